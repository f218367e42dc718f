// ALiBi and sinusoidal rows, and how far this arithmetic may lead from the real number.
//
// u = 2^-53; every operation rounds by u of its result, V8's pow, sin and cos (fdlibm's) are within
// 1 ulp, hence 2u. PAYS pays for products of errors.

const U = 2 ** -53;
const PAYS = 1.01;
const SIGN = process.env.POSGAUGE_BREAK ? -1 : 1;  // of the bias and of sines: a mistake to be found

/** 2^(-max_bias h/n); heads beyond the power of two n take odd powers of the half step. */
export function slopes({ heads, total_heads, first_head, max_bias }) {
  const n = 2 ** Math.floor(Math.log2(total_heads ?? heads));
  return Array.from({ length: heads }, (_, i) => {
    const h = first_head + i;
    return 2 ** (-max_bias * ((h < n ? 2 * (h + 1) : 2 * (h - n) + 1) / (2 * n)));
  });
}

/** Relative: the exponent, at most max_bias, is off by 2u of itself; 2u the power. */
export function slopeError({ max_bias }) {
  return PAYS * (2 + 2 * max_bias * Math.LN2) * U;
}

function distance(form, i, j, last) {
  switch (form) {
    case 'relative': return j - i;
    case 'symmetric': return -Math.abs(i - j);
    case 'key': return j;
    case 'key_from_last': return j - last;
    default: throw new Error(`a form that is not known here: ${form}`);
  }
}

/** [value, bound] of every element of [heads, queries, keys]; a difference and a product round. */
export function bias(scheme, queries, keys) {
  const error = slopeError(scheme) + PAYS * 2 * U;
  return slopes(scheme).flatMap((slope) => queries.flatMap((i) => keys.map((j) => {
    const value = slope * distance(scheme.form, i, j, keys.at(-1)) * SIGN;
    return [value, Math.abs(value) * error];
  })));
}

/** scale / base^(k/D), and the relative error: the quotient k/D is off by u of itself, which the power
 * turns into exponent ln(base) u; then the power and a quotient. */
export function frequencies({ width, odd_width, frequency_shift, base, scale }) {
  const count = odd_width === 'extra_sine' ? (width + 1) / 2 : Math.floor(width / 2);
  const denominator = frequency_shift === null ? width / 2 : count - frequency_shift;
  return Array.from({ length: count }, (_, k) => {
    const exponent = k / denominator;
    return [scale / base ** exponent, PAYS * (3 + exponent * Math.log(base)) * U];
  });
}

/** What a channel holds: the wave's number and its function; nothing in the last one of `zero`. */
function channel({ width, layout }, count, c) {
  if (layout === 'interleaved') return [c >> 1, c % 2 === 0 ? Math.sin : Math.cos];
  const first = c < count;
  if (!first && c >= count + Math.floor(width / 2)) return null;
  return [first ? c : c - count, first === (layout === 'halves') ? Math.sin : Math.cos];
}

/** [value, bound] of every element of [tokens, width]. The angle is off by itself times what the
 * frequency, the sum with `start` and the product are off by; sin and cos have slope at most 1. */
export function rows(scheme, positions) {
  const waves = frequencies(scheme);
  return positions.flatMap((position) => Array.from({ length: scheme.width }, (_, c) => {
    const index = position + scheme.start;
    const wave = channel(scheme, waves.length, c);
    if (wave === null || index === scheme.padding_index) return [0, 0];
    const [frequency, error] = waves[wave[0]];
    const angle = index * frequency;
    const value = wave[1](angle) * (wave[1] === Math.sin ? SIGN : 1);
    return [value, PAYS * (Math.abs(angle) * (error + 2 * U) + 2 * U * Math.abs(value))];
  }));
}

/** x + row: the sum rounds once more. */
export function embed(scheme, positions, x) {
  return rows(scheme, positions).map(([row, bound], i) => {
    const value = x[i] + row;
    return [value, bound + PAYS * U * Math.abs(value)];
  });
}
