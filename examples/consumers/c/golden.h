// The files of golden vectors: a manifest's payload and its tensors, for little-endian machines.
#ifndef GOLDEN_H_
#define GOLDEN_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static char* ReadFile(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  char* data = NULL;
  if (!fseek(file, 0, SEEK_END)) {
    const long length = ftell(file);
    rewind(file);
    if (length >= 0 && (data = malloc((size_t)length + 1))) {
      *size = fread(data, 1, (size_t)length, file);
      data[*size] = 0;
      if (*size != (size_t)length) free(data), data = NULL;
    }
  }
  fclose(file);
  return data;
}

typedef struct {
  char* data;         // the whole file
  char* header;       // its JSON
  const char* start;  // of the tensors
  size_t size;        // of the tensors
} Payload;

// The tensor CASE/NAME of `count` elements of `bytes` each, aligned for them; NULL if there is
// none.
static void* Tensor(const Payload* payload, const char* id, const char* name, size_t bytes,
                    size_t* count) {
  char key[300];
  snprintf(key, sizeof key, "%s/%s", id, name);
  const char* offsets = JsonMember(JsonMember(payload->header, key), "data_offsets");
  if (!JsonNext(JsonFirst(offsets))) return NULL;
  const size_t begin = strtoull(JsonFirst(offsets), NULL, 10);
  const size_t end = strtoull(JsonNext(JsonFirst(offsets)), NULL, 10);
  if (begin > end || end > payload->size || (end - begin) % bytes) return NULL;
  *count = (end - begin) / bytes;
  void* copy = malloc(end - begin + 1);
  if (copy) memcpy(copy, payload->start + begin, end - begin);  // both are little-endian
  return copy;
}

// Whether the payload that the manifest names is beside it, as long as it says.
static int OpenPayload(const char* manifest_path, const char* manifest, Payload* payload) {
  char file[256], path[4096];
  JsonCopy(JsonMember(JsonMember(manifest, "payload"), "file"), file, sizeof file);
  const char* slash = strrchr(manifest_path, '/');
  snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - manifest_path + 1) : 0, manifest_path,
           file);
  size_t size = 0;
  payload->data = ReadFile(path, &size);
  uint64_t header = 0;
  const char* bytes = JsonMember(JsonMember(manifest, "payload"), "bytes");
  if (!payload->data || size < 8 || !bytes || strtoull(bytes, NULL, 10) != size) return 0;
  memcpy(&header, payload->data, 8);
  if (header > size - 8 || !(payload->header = calloc(header + 1, 1))) return 0;
  memcpy(payload->header, payload->data + 8, header);
  payload->start = payload->data + 8 + header;
  payload->size = size - 8 - header;
  return 1;
}

#endif
