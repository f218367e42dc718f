// Reads golden vectors: a manifest and its payload. Node alone.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

export const FOLDER =
  process.env.POSGAUGE_GOLDEN || fileURLToPath(new URL('../../../golden/vectors', import.meta.url));

// Those that the tests below read.
const READ = {
  F64: [8, (view, at) => view.getFloat64(at, true)],
  F32: [4, (view, at) => view.getFloat32(at, true)],
  I32: [4, (view, at) => view.getInt32(at, true)],
};

function tensors(payload) {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const start = 8 + Number(view.getBigUint64(0, true));
  const header = JSON.parse(payload.subarray(8, start).toString('utf8'));
  const known = Object.entries(header).filter(([, tensor]) => tensor.dtype in READ);
  return Object.fromEntries(known.map(([name, { dtype, shape, data_offsets: [begin, end] }]) => {
    const [size, get] = READ[dtype];
    const values = Array.from({ length: (end - begin) / size },
      (_, i) => get(view, start + begin + i * size));
    return [name, { shape, values }];
  }));
}

/** Every case of a scheme: {name, scheme, quantity, result, dtypes, tensors by their name}. */
export function cases(scheme) {
  const folder = join(FOLDER, scheme);
  const files = readdirSync(folder).filter((file) => file.endsWith('.json')).sort();
  return files.flatMap((file) => {
    const manifest = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const payload = readFileSync(join(folder, manifest.payload.file));
    if (createHash('sha256').update(payload).digest('hex') !== manifest.payload.sha256) {
      throw new Error(`${join(folder, file)}: the payload is not the one that the manifest names`);
    }
    const all = Object.entries(tensors(payload));
    return manifest.cases.map(({ id, quantity, result, dtypes }) => ({
      name: `${scheme}/${file.replace(/\.json$/, '')}/${id}`,
      scheme: manifest.scheme, quantity, result, dtypes,
      tensors: Object.fromEntries(all.filter(([name]) => name.startsWith(id + '/'))
        .map(([name, tensor]) => [name.slice(id.length + 1), tensor])),
    }));
  });
}

/** The spacing of binary64 at `value`, that of subnormals at 0. */
export function ulp(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const exponent = Math.max(view.getUint16(0) >> 4, 1);  // its field; subnormals share that of 1
  return 2 ** Math.max(exponent - 1023 - 52, -1074);
}
