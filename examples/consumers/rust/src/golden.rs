//! Reads golden vectors: a manifest and its payload.

use crate::json::Json;
use std::{collections::BTreeMap, env, fs, path::PathBuf};

pub struct Case {
    pub name: String, // scheme/file/id
    pub quantity: String,
    pub result: String, // valid, acceptable or invalid
    pub dtypes: Vec<String>,
    /// Those of F64 and I32, by their name less the case's.
    pub tensors: BTreeMap<String, Vec<f64>>,
}

pub fn folder() -> PathBuf {
    env::var_os("POSGAUGE_GOLDEN")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/vectors")
        })
}

fn tensors(payload: &[u8]) -> BTreeMap<String, Vec<f64>> {
    let start = 8 + u64::from_le_bytes(payload[..8].try_into().unwrap()) as usize;
    let header = Json::parse(std::str::from_utf8(&payload[8..start]).unwrap()).unwrap();
    let mut result = BTreeMap::new();
    for (name, tensor) in header.object() {
        let [begin, end] =
            [0, 1].map(|i| start + tensor["data_offsets"].array()[i].number() as usize);
        let data = &payload[begin..end];
        let values = match tensor["dtype"].text() {
            "F64" => data
                .chunks_exact(8)
                .map(|c| f64::from_le_bytes(c.try_into().unwrap()))
                .collect(),
            "I32" => data
                .chunks_exact(4)
                .map(|c| i32::from_le_bytes(c.try_into().unwrap()) as f64)
                .collect(),
            _ => continue,
        };
        result.insert(name.clone(), values);
    }
    result
}

/// Every manifest of a scheme: its parameters and cases. Panics where a file is not what it should be.
pub fn manifests(scheme: &str) -> Vec<(Json, Vec<Case>)> {
    let folder = folder().join(scheme);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().map_or(false, |ending| ending == "json"));
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let manifest = Json::parse(&text).unwrap();
            let payload = fs::read(folder.join(manifest["payload"]["file"].text())).unwrap();
            assert_eq!(
                payload.len() as f64,
                manifest["payload"]["bytes"].number(),
                "{}",
                path.display()
            );
            let all = tensors(&payload);
            let stem = path.file_stem().unwrap().to_string_lossy();
            let cases = manifest["cases"].array().iter().map(|case| {
                let own = format!("{}/", case["id"].text());
                Case {
                    name: format!("{scheme}/{stem}/{}", case["id"].text()),
                    quantity: case["quantity"].text().to_string(),
                    result: case["result"].text().to_string(),
                    dtypes: case["dtypes"]
                        .array()
                        .iter()
                        .map(|d| d.text().to_string())
                        .collect(),
                    tensors: all
                        .iter()
                        .filter_map(|(name, v)| {
                            Some((name.strip_prefix(&own)?.to_string(), v.clone()))
                        })
                        .collect(),
                }
            });
            let cases = cases.collect();
            (manifest["scheme"].clone(), cases)
        })
        .collect()
}
