// ALiBi and sinusoidal rows against the golden vectors:   node --test      in this folder.
//
// Two tests a case. f64: a value fails where it is farther from the real number than the bound that
// schemes.mjs derives. f32: stored into a Float32Array, a value must be the vector's, bit for bit but
// for the sign of zero, unless that bound reaches across a midpoint between two numbers of float32,
// where it may be either of them.

import assert from 'node:assert/strict';
import test from 'node:test';

import { cases, ulp } from './golden.mjs';
import * as schemes from './schemes.mjs';

const ANSWERS = {  // {output, [value, bound] of each element, where the element is}
  alibi: {
    slopes: ({ scheme }) => [
      'slopes', schemes.slopes(scheme).map((slope) => [slope, slope * schemes.slopeError(scheme)]),
      (i) => `head ${i}`],
    bias: ({ scheme, tensors: { query_positions: q, key_positions: k } }) => [
      'bias', schemes.bias(scheme, q.values, k.values),
      (i) => `query position ${q.values[Math.floor(i / k.values.length) % q.values.length]}, ` +
             `key position ${k.values[i % k.values.length]}`],
  },
  sinusoidal: {
    frequencies: ({ scheme }) => [
      'frequencies', schemes.frequencies(scheme).map(([value, error]) => [value, value * error]),
      (i) => `wave ${i}`],
    table: ({ scheme, tensors: { positions } }) => [
      'rows', schemes.rows(scheme, positions.values),
      (i) => `position ${positions.values[Math.floor(i / scheme.width)]}`],
    embed: ({ scheme, tensors: { positions, x } }) => [
      'out', schemes.embed(scheme, positions.values, x.values),
      (i) => `position ${positions.values[Math.floor(i / scheme.width)]}`],
  },
};

const isSame = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b));  // 0 and -0 too

/** Whether the binary64 result is within the bound of stored + distance 2^-16 ulp; a distance is known to
 * half a step, and the difference rounds. */
function within(value, bound, stored, distance) {
  if (!Number.isFinite(stored)) return isSame(value, stored);
  const step = 2 ** -16 * ulp(stored);
  const difference = (value - stored) - distance * step;
  return Math.abs(difference) <= bound + step / 2 + 2 ** -52 * Math.abs(difference);
}

/** Rounding is monotone: what lies within the bound of the real number rounds between its two ends. */
function roundsTo(value, bound, stored, distance, stored32) {
  if (!Number.isFinite(stored32)) return isSame(Math.fround(value), stored32);
  const real = stored + distance * 2 ** -16 * ulp(stored), reach = bound + ulp(stored);
  return Math.fround(real - reach) <= Math.fround(value) && Math.fround(value) <= Math.fround(real + reach);
}

function check(golden, dtype) {
  const [output, answers, place] = ANSWERS[golden.scheme.scheme][golden.quantity](golden);
  const [stored, distance] = ['', '.distance'].map(
    (part) => golden.tensors[`${output}.f64${part}`].values);
  const stored32 = golden.tensors[`${output}.f32`]?.values;
  assert.equal(answers.length, stored.length, `${golden.name}: elements of ${output}`);
  return answers.flatMap(([value, bound], i) => {
    const holds = dtype === 'f64' ? within(value, bound, stored[i], distance[i])
                                  : roundsTo(value, bound, stored[i], distance[i], stored32[i]);
    return holds ? [] : [`${golden.name}: ${output} ${dtype}, index ${i}, ${place(i)}: got ${value}, ` +
                         `the real number is near ${stored[i]}, at most ${bound} from it is this arithmetic's`];
  });
}

for (const golden of ['alibi', 'sinusoidal'].flatMap(cases)) {
  const { scheme, quantity } = golden;
  const known = quantity in ANSWERS[scheme.scheme] && !scheme.before_scale;
  const skip = known ? golden.result === 'acceptable' && 'of a named dialect'
                     : `not computed here: ${quantity}`;
  for (const dtype of ['f64', 'f32']) {
    // Wrong answers are to be refused in f64; float32 may hide what is wrong with them.
    if (!golden.dtypes.includes(dtype) || (golden.result === 'invalid' && dtype === 'f32')) continue;
    test(`${golden.name} ${dtype}`, { skip }, () => {
      const wrong = check(golden, dtype);
      if (golden.result === 'invalid') {
        assert.notEqual(wrong.length, 0, `${golden.name}: agrees with an answer that is wrong on purpose`);
      } else {
        assert.equal(wrong.length, 0, `${wrong.length} wrong, first ${wrong[0]}`);
      }
    });
  }
}
