// Rotary embedding in float against the golden vectors, in plain C99.
//
//   cc -std=c99 -O2 golden_rope.c -o golden_rope -lm
//   ./golden_rope ../../../golden/vectors/rope/*.json
//
// Output is TAP, a line a case; the exit code is 1 if one of them fails and 2 for unreadable files.
// A value fails where it is farther from the real number than this arithmetic can lead:
//
//   u = 2^-24; every operation rounds by u of its result, the C library's powf, cosf and sinf are
//   within 1 ulp, hence 2u.
//   frequency  base^(-2i/d), negative if clockwise: the quotient's u becomes (2i/d) ln(base) u in
//   the power; 2u the power angle      |p f| (relative error of f + u of the position + u of the
//   product) cos, sin   slope at most 1, then 2u rotation   a pair (a, b) moves by hypot(a, b)
//   times the angle's error; what rounds x, cos, sin,
//              products and the sum counts (2 + 1 + 1 + 1) u hypot(a, b)
//
// times 1.01, which pays for products of errors. A value whose bound is wider than a tenth of its
// size cannot fail; it is counted as blind, never as passed.

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "json.h"

static const double kPays = 1.01, kBlind = 0.1, kU = 0x1p-24;
static const double kSmallestSubnormal = 0x1p-149;

typedef struct {
  int64_t rotary_dim, rotary_offset, head_dim;
  int interleaved;
  float base, sign;
} Scheme;

// The two channels of pair i, counted within the head.
static void Pair(const Scheme* s, int64_t i, int64_t* first, int64_t* second) {
  *first = s->rotary_offset + (s->interleaved ? 2 * i : i);
  *second = s->rotary_offset + (s->interleaved ? 2 * i + 1 : i + s->rotary_dim / 2);
}

// ---- What is tested: put your own here. ----

static float Frequency(const Scheme* s, int64_t i) {
  return s->sign * powf(s->base, -(float)(2 * i) / (float)s->rotary_dim);
}

static void CosSin(const Scheme* s, float position, int64_t i, float* cosine, float* sine) {
  const float angle = position * Frequency(s, i);
  *cosine = cosf(angle);
  *sine = sinf(angle);
}

static void Rotate(const Scheme* s, float position, float direction, const float* x, float* out) {
  memcpy(out, x, (size_t)s->head_dim * sizeof *x);
  for (int64_t i = 0; i < s->rotary_dim / 2; ++i) {
    int64_t a, b;
    float c, sine;
    Pair(s, i, &a, &b);
    CosSin(s, position, i, &c, &sine);
    sine *= direction;
    out[a] = x[a] * c - x[b] * sine;
    out[b] = x[a] * sine + x[b] * c;
  }
}

// ---- How far it may be off. ----

static double FrequencyError(const Scheme* s, int64_t i) {
  const double exponent = (double)(2 * i) / (double)s->rotary_dim;
  return (2 + exponent * log(s->base)) * kU;  // relative
}

static double CosSinError(const Scheme* s, double position, int64_t i) {
  const double frequency = pow(s->base, -(double)(2 * i) / (double)s->rotary_dim);
  return kPays * (fabs(position) * frequency * (FrequencyError(s, i) + 2 * kU) + 2 * kU);
}

// ---- The test. ----

static int tests, failures;

typedef struct {
  const char* name;  // file/case
  long compared, blind, wrong;
  char first[512];  // what the first wrong value is
} Report;

// `result` against the real number stored + distance 2^-16 ulp(stored), of which a float's test
// needs no more than stored, to half an ulp of double.
static void Compare(Report* report, const char* tensor, size_t index, const char* where,
                    float result, double stored, double bound, double size) {
  const double difference = (double)result - stored;
  int wrong;
  if (isnan(stored)) {  // an infinity or a NaN of the input spoils its pair
    wrong = isfinite(result);
  } else if (isinf(stored)) {
    wrong = (double)result != stored;
  } else if (bound > 0 && !(bound <= kBlind * size)) {
    ++report->blind;
    return;
  } else {
    wrong = !(fabs(difference) <= bound + DBL_EPSILON * fabs(stored));
  }
  ++report->compared;
  if (wrong && !report->wrong++) {
    snprintf(report->first, sizeof report->first,
             "%s f32, index %zu, %s: got %a, the real number is near %a: off by %.3g, at most %.3g "
             "is this arithmetic's",
             tensor, index, where, (double)result, stored, difference, bound);
  }
}

static void TestFrequencies(Report* report, const Scheme* s, const Payload* payload,
                            const char* id) {
  size_t count = 0;
  double* stored = Tensor(payload, id, "frequencies.f64", 8, &count);
  for (size_t i = 0; stored && i < count; ++i) {
    Compare(report, "frequencies", i, "no position", Frequency(s, (int64_t)i), stored[i],
            kPays * FrequencyError(s, (int64_t)i) * fabs(stored[i]), fabs(stored[i]));
  }
  free(stored);
}

static void TestTable(Report* report, const Scheme* s, const Payload* payload, const char* id) {
  size_t tokens = 0, count = 0, other = 0;
  double* positions = Tensor(payload, id, "positions", 8, &tokens);
  double* cosines = Tensor(payload, id, "cos.f64", 8, &count);
  double* sines = Tensor(payload, id, "sin.f64", 8, &other);
  const size_t pairs = (size_t)s->rotary_dim / 2;
  const int whole = positions && cosines && sines && count == tokens * pairs && other == count;
  for (size_t at = 0; whole && at < count; ++at) {
    const double position = positions[at / pairs];
    char where[64];
    float c, sine;
    snprintf(where, sizeof where, "position %.17g", position);
    CosSin(s, (float)position, (int64_t)(at % pairs), &c, &sine);
    const double bound = CosSinError(s, position, (int64_t)(at % pairs));
    Compare(report, "cos", at, where, c, cosines[at], bound, 1);
    Compare(report, "sin", at, where, sine, sines[at], bound, 1);
  }
  free(positions), free(cosines), free(sines);
}

static void TestRotate(Report* report, const Scheme* s, const Payload* payload, const char* id,
                       float direction) {
  size_t tokens = 0, count = 0, other = 0;
  const size_t width = (size_t)s->head_dim;
  double* positions = Tensor(payload, id, "positions", 8, &tokens);
  double *x = Tensor(payload, id, "x", 8, &count),
         *stored = Tensor(payload, id, "out.f64", 8, &other);
  float* row = malloc(2 * width * sizeof *row);
  double* bound = malloc(2 * width * sizeof *bound);
  const int whole = positions && x && stored && row && bound && tokens && count == other &&
                    count % (tokens * width) == 0;
  for (size_t at = 0; whole && at < count; at += width) {
    const double position = positions[at / (count / tokens)];
    double* size = bound + width;
    float* out = row + width;
    for (size_t i = 0; i < width; ++i) {  // outside the rotation: x, rounded
      row[i] = (float)x[at + i];
      size[i] = fabs(x[at + i]);
      bound[i] = size[i] > 0 ? kU * size[i] + kSmallestSubnormal : 0;
    }
    for (int64_t i = 0; i < s->rotary_dim / 2; ++i) {
      int64_t a, b;
      Pair(s, i, &a, &b);
      size[a] = size[b] = hypot(x[at + (size_t)a], x[at + (size_t)b]);
      bound[a] = bound[b] = (CosSinError(s, position, i) + kPays * 3 * kU) * size[a] +
                            (size[a] > 0 ? 4 * kSmallestSubnormal : 0);
    }
    Rotate(s, (float)position, direction, row, out);
    char where[64];
    snprintf(where, sizeof where, "position %.17g", position);
    for (size_t i = 0; i < width; ++i) {
      Compare(report, "out", at + i, where, out[i], stored[at + i], bound[i], size[i]);
    }
  }
  free(positions), free(x), free(stored), free(row), free(bound);
}

static void TestCase(const char* file, const char* manifest_case, const Scheme* s,
                     const Payload* payload) {
  char id[128], name[256];
  JsonCopy(JsonMember(manifest_case, "id"), id, sizeof id);
  snprintf(name, sizeof name, "%s/%s", file, id);
  const char* quantity = JsonMember(manifest_case, "quantity");
  const int known = JsonIs(quantity, "frequencies") || JsonIs(quantity, "table") ||
                    JsonIs(quantity, "rotate") || JsonIs(quantity, "rotate_backward");
  Report report = {.name = name};
  const char* skip = NULL;
  if (!known) {
    skip = "not computed here";
  } else if (!JsonIs(JsonMember(manifest_case, "result"), "valid")) {
    skip = "wrong on purpose, or a dialect: float may hide the difference";
  } else if (!JsonContains(JsonMember(manifest_case, "dtypes"), "f32")) {
    skip = "not for float";
  } else {
    if (JsonIs(quantity, "frequencies")) TestFrequencies(&report, s, payload, id);
    if (JsonIs(quantity, "table")) TestTable(&report, s, payload, id);
    if (JsonIs(quantity, "rotate")) TestRotate(&report, s, payload, id, 1);
    if (JsonIs(quantity, "rotate_backward")) TestRotate(&report, s, payload, id, -1);
    if (!report.compared && report.blind) skip = "blind: no bound is below a tenth of its value";
  }
  const int failed = !skip && (report.wrong || !report.compared);
  printf("%sok %d - %s", failed ? "not " : "", ++tests, name);
  if (skip) {
    printf(" # SKIP %s\n", skip);
  } else {
    printf(": %ld values, %ld wrong, %ld more blind\n", report.compared, report.wrong,
           report.blind);
  }
  if (failed) {
    printf("# first: %s: %s\n", name, report.wrong ? report.first : "tensors are missing");
    ++failures;
  }
}

static int TestManifest(const char* path) {
  size_t size = 0;
  char* text = ReadFile(path, &size);
  const char* manifest = JsonSpace(text);
  const char* scheme = JsonMember(manifest, "scheme");
  const Scheme s = {
      .rotary_dim = (int64_t)JsonNumber(JsonMember(scheme, "rotary_dim")),
      .rotary_offset = (int64_t)JsonNumber(JsonMember(scheme, "rotary_offset")),
      .head_dim = (int64_t)JsonNumber(JsonMember(scheme, "head_dim")),
      .interleaved = JsonIs(JsonMember(scheme, "pairing"), "interleaved"),
      .base = (float)JsonNumber(JsonMember(scheme, "base")),
      .sign = (JsonIs(JsonMember(scheme, "direction"), "clockwise") ? -1.0f : 1.0f) *
              (getenv("POSGAUGE_BREAK") ? -1.0f : 1.0f),  // a mistake to be found
  };
  Payload payload = {0};
  const int ok = JsonEnd(manifest) && JsonIs(JsonMember(manifest, "format"), "posgauge-golden") &&
                 JsonIs(JsonMember(scheme, "scheme"), "rope") && s.rotary_dim >= 2 &&
                 s.rotary_offset >= 0 && s.rotary_offset + s.rotary_dim <= s.head_dim &&
                 s.base > 0 && OpenPayload(path, manifest, &payload);
  if (ok) {
    char file[128];
    const char* slash = strrchr(path, '/');
    snprintf(file, sizeof file, "rope/%s", slash ? slash + 1 : path);
    if (strrchr(file, '.')) *strrchr(file, '.') = 0;
    for (const char* one = JsonFirst(JsonMember(manifest, "cases")); one; one = JsonNext(one)) {
      TestCase(file, one, &s, &payload);
    }
  } else {
    fprintf(stderr, "%s: not a manifest of rope's golden vectors with its payload beside it\n",
            path);
  }
  free(text), free(payload.data), free(payload.header);
  return ok;
}

int main(int argc, char** argv) {
  if (argc < 2) fprintf(stderr, "usage: golden_rope MANIFEST.json...\n");
  for (int i = 1; i < argc; ++i) {
    if (!TestManifest(argv[i])) return 2;
  }
  printf("1..%d\n# %d passed or skipped, %d failed\n", tests, tests - failures, failures);
  return argc < 2 ? 2 : failures || !tests;
}
