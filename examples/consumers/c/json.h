// A cursor over JSON text: as much as reading a manifest takes, without a library. A value is the
// pointer to its first character; every function returns NULL where there is no such value or the
// text is not JSON. The text must end in a NUL. Escapes in strings are skipped, not decoded: no
// name or number of a manifest has any.
#ifndef JSON_H_
#define JSON_H_

#include <stdlib.h>
#include <string.h>

static const char* JsonSpace(const char* p) { return p ? p + strspn(p, " \t\r\n") : NULL; }

static const char* JsonEndOfString(const char* p) {
  for (++p; *p && *p != '"'; ++p) {
    if (*p == '\\' && !*++p) return NULL;
  }
  return *p ? p + 1 : NULL;
}

// One past the value at p.
static const char* JsonEnd(const char* p) {
  if (!p) return NULL;
  if (*p == '"') return JsonEndOfString(p);
  if (*p == '{' || *p == '[') {
    const char close = *p == '{' ? '}' : ']';
    p = JsonSpace(p + 1);
    if (*p == close) return p + 1;
    for (;;) {
      if (close == '}') {
        if (*p != '"' || !(p = JsonSpace(JsonEndOfString(p))) || *p != ':') return NULL;
        p = JsonSpace(p + 1);
      }
      p = JsonSpace(JsonEnd(p));
      if (!p || (*p != ',' && *p != close)) return NULL;
      if (*p == close) return p + 1;
      p = JsonSpace(p + 1);
    }
  }
  const size_t length = strspn(p, "+-.0123456789aeflnrstuE");  // numbers, true, false, null
  return length ? p + length : NULL;
}

static int JsonIs(const char* p, const char* text) {
  const size_t length = strlen(text);
  return p && *p == '"' && !strncmp(p + 1, text, length) && p[length + 1] == '"';
}

// The value of an object's key.
static const char* JsonMember(const char* object, const char* key) {
  if (!object || *object != '{') return NULL;
  for (const char* p = JsonSpace(object + 1); p && *p == '"';) {
    const char* value = JsonSpace(JsonEndOfString(p));
    if (!value || *value != ':') return NULL;
    value = JsonSpace(value + 1);
    if (JsonIs(p, key)) return value;
    p = JsonSpace(JsonEnd(value));
    if (!p || *p != ',') return NULL;
    p = JsonSpace(p + 1);
  }
  return NULL;
}

// The first value of an array, and the one after `value`.
static const char* JsonFirst(const char* array) {
  if (!array || *array != '[') return NULL;
  const char* p = JsonSpace(array + 1);
  return *p == ']' ? NULL : p;
}

static const char* JsonNext(const char* value) {
  const char* p = JsonSpace(JsonEnd(value));
  return p && *p == ',' ? JsonSpace(p + 1) : NULL;
}

// 0 where there is none.
static double JsonNumber(const char* p) { return p ? strtod(p, NULL) : 0; }

static int JsonContains(const char* array, const char* text) {
  for (const char* p = JsonFirst(array); p; p = JsonNext(p)) {
    if (JsonIs(p, text)) return 1;
  }
  return 0;
}

// The text of a string, cut at `size - 1` characters.
static void JsonCopy(const char* p, char* text, size_t size) {
  const char* end = p && *p == '"' ? JsonEndOfString(p) : NULL;
  size_t length = end ? (size_t)(end - p) - 2 : 0;
  if (length >= size) length = size - 1;
  if (length) memcpy(text, p + 1, length);
  text[length] = 0;
}

#endif
