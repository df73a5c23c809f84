import { MAX_SEALED_BYTES } from '../../../crds/src/options/private.ts'

/** Objects that no program of Tintype writes to the bucket. */
export const JUNK: readonly (string | Buffer)[] = [
  '',
  'not JSON',
  '{"id":7,"v":"1","plan":[],"metadata":null}',
  '{"__proto__":{"id":1},"id":"a"}',
  '['.repeat(100_000) + ']'.repeat(100_000),
  Buffer.from([0, 255, 254, 128, 10, 0]),
  Buffer.alloc(MAX_SEALED_BYTES + 1, 'a'),
]

/** Its beginning, for the name of a test. */
export const toShort = (junk: string | Buffer): string => JSON.stringify(junk.toString('latin1').slice(0, 12))

/** Number of lines in a program's log about an ignored object. */
export const countIgnored = (log: string, key: string): number =>
  log.split('\n').filter((line) => line.includes('ignored object in the bucket') && line.includes(`"key":${JSON.stringify(key)}`)).length

/** Number of ignored objects of a kind, and optionally a reason, in the text of a program's metrics. */
export function sumIgnored(metrics: string, kind: string, reason = '[a-z]+'): number {
  const series = new RegExp(`^screenshot_storage_objects_ignored_total\\{kind="${kind}",reason="${reason}"\\} (\\d+)$`, 'gm')
  return [...metrics.matchAll(series)].reduce((sum, [, value]) => sum + Number(value), 0)
}
