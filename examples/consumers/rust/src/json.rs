//! JSON, as much as manifests have of it: no decoding of escapes in strings.

use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader {
            text: text.as_bytes(),
            at: 0,
        };
        let value = reader.value()?;
        reader.space();
        if reader.at == text.len() {
            Ok(value)
        } else {
            Err(reader.wrong("the end"))
        }
    }

    /// The value of a number, the text of a string, the elements of an array. They panic on another
    /// kind, as indexing does on a missing key: in a test that is a failure.
    pub fn number(&self) -> f64 {
        if let Json::Number(value) = self {
            *value
        } else {
            panic!("not a number: {self:?}")
        }
    }

    pub fn text(&self) -> &str {
        if let Json::Text(value) = self {
            value
        } else {
            panic!("not a string: {self:?}")
        }
    }

    pub fn array(&self) -> &[Json] {
        if let Json::Array(value) = self {
            value
        } else {
            panic!("not an array: {self:?}")
        }
    }

    pub fn object(&self) -> &BTreeMap<String, Json> {
        if let Json::Object(value) = self {
            value
        } else {
            panic!("not an object: {self:?}")
        }
    }
}

impl std::ops::Index<&str> for Json {
    type Output = Json;
    fn index(&self, key: &str) -> &Json {
        self.object()
            .get(key)
            .unwrap_or_else(|| panic!("there is no {key:?}"))
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, expected: &str) -> String {
        format!("byte {}: expected {expected}", self.at)
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(c) if c.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Whether the next character that is no space is this one, which is then behind.
    fn takes(&mut self, wanted: u8) -> bool {
        self.space();
        let found = self.text.get(self.at) == Some(&wanted);
        self.at += found as usize;
        found
    }

    fn demand(&mut self, wanted: u8) -> Result<(), String> {
        if self.takes(wanted) {
            Ok(())
        } else {
            Err(self.wrong(&(wanted as char).to_string()))
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.demand(b'"')?;
        let start = self.at;
        while matches!(self.text.get(self.at), Some(c) if *c != b'"') {
            self.at += if self.text[self.at] == b'\\' { 2 } else { 1 };
        }
        let text = self
            .text
            .get(start..self.at)
            .ok_or_else(|| self.wrong("a closing quote"))?;
        self.demand(b'"')?;
        String::from_utf8(text.to_vec()).map_err(|error| error.to_string())
    }

    /// What stands between brackets, each element read by `element`.
    fn list(
        &mut self,
        close: u8,
        mut element: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.at += 1;
        if self.takes(close) {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.takes(b',') {
                return self.demand(close);
            }
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.text.get(self.at) {
            Some(b'{') => {
                let mut object = BTreeMap::new();
                self.list(b'}', |reader| {
                    let key = reader.string()?;
                    reader.demand(b':')?;
                    object.insert(key, reader.value()?);
                    Ok(())
                })?;
                Ok(Json::Object(object))
            }
            Some(b'[') => {
                let mut array = Vec::new();
                self.list(b']', |reader| {
                    array.push(reader.value()?);
                    Ok(())
                })?;
                Ok(Json::Array(array))
            }
            Some(b'"') => self.string().map(Json::Text),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, String> {
        let is_word = |c: &u8| c.is_ascii_alphanumeric() || b"+-.".contains(c);
        let length = self.text[self.at..]
            .iter()
            .take_while(|c| is_word(c))
            .count();
        let word = std::str::from_utf8(&self.text[self.at..self.at + length]).unwrap_or_default();
        let value = match word {
            "null" => Json::Null,
            "true" | "false" => Json::Bool(word == "true"),
            _ => Json::Number(word.parse().map_err(|_| self.wrong("a value"))?),
        };
        self.at += length;
        Ok(value)
    }
}
