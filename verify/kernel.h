/* The C interface between posgauge and a kernel under test.  Plain C99.  docs/kernel-abi.md
 * explains it.
 *
 * A library exports one function, posgauge_kernels, that returns a list of descriptors.  posgauge
 * reads what each kernel computes, with which tensors it wants to be called and which arithmetic it
 * declares (its contract), then calls `run`.
 *
 * Version 1 is frozen.  posgauge_call and posgauge_kernel begin with their size in bytes as the
 * writer knew it, so that fields can be added at the end: nobody reads what lies beyond the size,
 * and who steps through an array of descriptors does so by their size, not by sizeof.  A field that
 * a writer did not know counts as 0.  posgauge_scalar and posgauge_tensor, of which calls have
 * arrays, never grow.  New schemes never change this header: parameters travel by name.
 *
 * Quantities and their tensors (shapes in C order; strides as the DLTensor says, in elements;
 * x and out are also parts of packed q, k and v, and have gaps between their rows, for which a
 * kernel may answer UNSUPPORTED):
 *
 *   frequencies      out  frequency, frequency_low [pairs]  radians per token; their sum counts
 *                         magnitude [1]                     factor a on cos and sin
 *   table            in   positions [tokens], frequency.. [pairs], magnitude [1]
 *                    out  cos, sin [tokens, pairs]          a cos(p w), a sin(p w)
 *                         or, of a scheme that adds to embeddings (no magnitude, a wave a pair),
 *                         rows [tokens, width]; where its rows are no waves, of positions and
 *                         the scheme's weights by their names
 *                         (`posgauge schemes NAME` lists them)
 *   rotate           in   x [tokens, heads, head_dim] and either cos, sin [tokens, pairs] or
 *                         positions [tokens], frequency.. [pairs], magnitude [1]
 *                    out  out [tokens, heads, head_dim]     channels that do not rotate are copied
 *   rotate_backward       as rotate: the transpose, a times the rotation by the negative angle
 *   embed            in   x [tokens, width] and either rows [tokens, width] or positions [tokens],
 *                         frequency.. [pairs]; where rows are no waves, x, positions and weights.
 *                         A position that has no row is answered with an error.
 *                    out  out [tokens, width]               x plus its rows
 *
 * Of schemes that act in attention, one tensor out, named as the quantity; every key is answered
 * for, but scores are -infinity where a key is not visible, and what is not visible may hold NaN:
 *
 *   slopes           out  slopes [heads]
 *   buckets          in   query_positions [queries], key_positions [keys]
 *                    out  buckets [queries, keys]           integers
 *   bias             in   the same, and the scheme's weights by their names
 *                    out  bias [heads, queries, keys]       what is added to the scaled scores
 *   scores           in   the same, q [queries, heads, head_dim], k [keys, heads, head_dim]
 *                    out  scores [heads, queries, keys]     before softmax
 *   attention        in   the same, v [keys, heads, head_dim]
 *                    out  attention [queries, heads, head_dim]
 *
 * A kernel of those may also take `slopes` [heads], or `thresholds` [buckets of a direction], the
 * smallest distance of each (t5, deberta), and need not form them.
 *
 * Positions of several axes (time, height, width): where the scheme counts them (mrope, axial),
 * `positions` is [tokens, axes], the axes in the order that the scheme says, and a kernel of
 * rotations may take one more input, by which it need not know the scheme:
 *
 *   axis             [pairs]  which axis of the position each pair counts, 0 for all of one axis
 *
 * Schemes of one axis have positions [tokens], with or without it; "axis?:i64" leaves it out there.
 * A kernel of every scheme that takes positions but no axis is of one axis: it is asked for no
 * other.  One that names mrope or axial may work from their section and order instead.  By the
 * pairing half_per_axis (axial) the list `section` says how channels pair: axis a has the next
 * 2 section[a] of them, of which those `section[a]` apart are a pair.
 *
 * Ragged batches: a kernel of rotations, or of added waves, may take several sequences on one axis
 * of tokens:
 *
 *   cu_seqlens       [sequences + 1]  where each begins, and the number of tokens; a sequence may
 *                                     be empty
 *   offsets          [sequences]      the position of the first token of each
 *
 * Its positions are then the `positions` that it takes, or what these say; without offsets every
 * sequence begins at 0.
 *
 * Scalars: every numeric field of the scheme by its name in `posgauge schemes` (head_dim,
 * rotary_dim, rotary_offset, base, factor, width, ...); a variant is the index of its spelling in
 * the order listed there; true is 1; an optional field that is not set is absent.
 *
 * Lists: every list field of the scheme (short_factor of longrope) is one more input, of any call,
 * by its name: f64 [entries], behind the others; or where and as the kernel names it among its
 * inputs, "section?:i64".  One that is not set is absent.
 */
#ifndef POSGAUGE_KERNEL_H_
#define POSGAUGE_KERNEL_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POSGAUGE_ABI_VERSION 1u

/* Element types; DLPack's own code cannot tell all of them apart.  F8E4M3 (without infinities; 0x7f
 * and 0xff are NaN) and F8E5M2 are those of the OCP 8-bit Floating Point Specification; their
 * DLTensors are of unsigned bytes. */
enum {
  POSGAUGE_F64 = 0,
  POSGAUGE_F32 = 1,
  POSGAUGE_BF16 = 2,
  POSGAUGE_F16 = 3,
  POSGAUGE_I64 = 4,
  POSGAUGE_I32 = 5,
  POSGAUGE_U8 = 6,
  POSGAUGE_F8E4M3 = 7,
  POSGAUGE_F8E5M2 = 8
};

/* What `run` answers. */
enum {
  POSGAUGE_OK = 0,
  POSGAUGE_UNSUPPORTED = 1, /* this call is outside what the kernel offers: counted, never a pass */
  POSGAUGE_FAILED = 2       /* the kernel could not do what it offers; `why` says so */
};

typedef struct posgauge_scalar {
  const char* name;
  double value;
} posgauge_scalar;

typedef struct posgauge_tensor {
  uint32_t size;
  int32_t dtype; /* POSGAUGE_F32, ... */
  const char* name;
  DLTensor tensor;
} posgauge_tensor;

typedef struct posgauge_call {
  uint32_t size;
  uint32_t num_scalars;
  const char* scheme;   /* "yarn" */
  const char* quantity; /* "rotate" */
  const posgauge_scalar* scalars;
  const posgauge_tensor* inputs;
  const posgauge_tensor* outputs;
  uint32_t num_inputs;
  uint32_t num_outputs;
} posgauge_call;

typedef struct posgauge_kernel {
  uint32_t size;
  const char* name;    /* unique in the library: "fast.rotate.bf16" */
  const char* schemes; /* words of `posgauge schemes` separated by spaces, or "*": every scheme that
                          has the quantity */
  const char* quantity; /* "rotate" */
  /* Tensors the kernel takes and yields, each with the dtypes it accepts, the preferred first:
   * "x:bf16 positions:i64,i32,f32 frequency:f64 frequency_low:f64 magnitude:f64".  A '?' after the
   * name says that only some parameters of the scheme call for it: "w1?:f32". */
  const char* inputs;
  const char* outputs;
  const char* pairings; /* "half interleaved half_per_axis", those it serves; of rotations */
  /* One line of declared arithmetic, docs/contracts.md; what is not said means the weakest. */
  const char* contract;
  /* What is promised bit for bit, separated by spaces, "" for nothing; without the word results may
   * differ by what the contract allows:
   *   chunking   two calls on parts of the tokens give what one call gives; of attention on parts
   *              of the queries
   *   batch      heads, or tokens with their positions, in another order give the same rows
   *   alignment  x and out elsewhere: one in the memory of the other, or each with gaps between its
   *              rows, beginning at a byte_offset off any boundary
   *   pairing    both pairings give the same pairs
   *   axes       a pair depends on no axis but its own, and equal positions on all axes give what
   *              rope gives at that position, where they mean the same angles
   * and two that are not about bits:
   *   rowshift   rows of biases or scores may differ from the scheme's by one number each, which
   *              softmax cancels
   *   grouped    k and v may have fewer heads than q, a divisor of their number: query head h reads
   *              head h kv_heads / heads */
  const char* invariances;
  int32_t in_place;           /* not 0: `out` may be the memory of `x` */
  int64_t largest_rotary_dim; /* 0: no limit */
  double largest_position;    /* 0: no limit; |position| in tokens on any axis, finite */
  /* Returns POSGAUGE_OK and so on; writes a reason of at most why_size bytes (with the final zero)
   * to `why` unless OK.  Must not keep pointers after it returns. */
  int32_t (*run)(const posgauge_call* call, char* why, size_t why_size);
} posgauge_kernel;

/* The one exported symbol, also of a library whose symbols are hidden.  Returns `*count`
 * descriptors that live as long as the library, or NULL when it cannot serve that version. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const posgauge_kernel*
posgauge_kernels(uint32_t abi_version, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* POSGAUGE_KERNEL_H_ */
