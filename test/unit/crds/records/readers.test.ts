import fc from 'fast-check'
import t from 'tap'
import { isSignedMarker, signMarker } from '../../../../crds/src/crypto/signed-markers.ts'
import { newId, screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { toArchivedLine } from '../../../../crds/src/records/archive.ts'
import { readArchived } from '../../../../crds/src/records/archived-record.ts'
import { readCacheEntry } from '../../../../crds/src/records/cache.ts'
import { IgnoredObjects } from '../../../../crds/src/records/ignored-objects.ts'
import { toRecord } from '../../../../crds/src/records/record.ts'
import { parseLog } from '../../../../crds/src/webhooks/delivery-log.ts'
import { aScreenshot, at, completedStatus, NOON } from '../../../support/fakes/builders.ts'
import { ring } from '../../../support/sources/mark-checks.ts'

const shot = aScreenshot({ spec: { accountName: 'acme', options: { fullPage: true } }, status: completedStatus() })
const place = { account: 'acme', id: screenshotIdOf(shot.metadata) }
const now = at(60)

t.test('a record with any single change is either shown or counts as absent, without an error', async () => {
  const paths: (string | number)[][] = []
  const walk = (value: unknown, path: (string | number)[]): void => {
    paths.push(path)
    if (typeof value === 'object' && value !== null) for (const [key, child] of Object.entries(value)) walk(child, [...path, key])
  }
  const original = JSON.parse(toArchivedLine(shot))
  walk(original, [])
  const change = (path: (string | number)[], value: unknown): string => {
    if (path.length === 0) return JSON.stringify(value) ?? ''
    const copy = structuredClone(original)
    let parent = copy
    for (const key of path.slice(0, -1)) parent = parent[key]
    parent[path.at(-1)!] = value
    return JSON.stringify(copy)
  }
  fc.assert(
    fc.property(
      fc.constantFrom(...paths),
      fc.oneof(fc.jsonValue(), fc.constant('constructor'), fc.constant('9999-01-01')),
      (path, value) => {
        const read = readArchived(change(path, value), place, now)
        if (typeof read === 'object') toRecord(read, () => ({ url: 'x', expires: 1 }))
      },
    ),
    { seed: 18, numRuns: 2_000 },
  )
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
      readArchived(text, place, now)
      readCacheEntry(text, now)
      parseLog(text)
    }),
    { seed: 18, numRuns: 500 },
  )
})

t.test('readArchived returns why a record counts as absent', async (t) => {
  const line = toArchivedLine(shot)
  t.match(readArchived(line, place, now), { spec: { accountName: 'acme' }, status: { phase: 'Completed' } })
  const future = newId('scr', at(9 * 86_400))
  const cases: [string, string, typeof place, string][] = [
    ['empty', '', place, 'content'],
    ['deep', `${'['.repeat(99_999)}${']'.repeat(99_999)}`, place, 'content'],
    ['a prototype', line.replace('{', '{"__proto__":{},'), place, 'content'],
    ['of another account', line, { ...place, account: 'other' }, 'account'],
    ['of another id', line, { ...place, id: newId('scr', NOON) }, 'id'],
    ['of the future', toArchivedLine(aScreenshot({ name: toObjectName(future) })), { ...place, id: future }, 'time'],
    ['completed in the future', line.replace(at(2).toISOString(), '9999-01-01T00:00:00.000Z'), place, 'time'],
    ['completed never', line.replace(at(2).toISOString(), 'never'), place, 'content'],
    ['with a file elsewhere', line.replace('"fullPage":true', '"thumbnailFormat":"png/../../x"'), place, 'content'],
  ]
  for (const [name, text, where, reason] of cases) t.equal(readArchived(text, where, now), reason, name)
})

t.test('IgnoredObjects counts every read, logs each key once, and remembers a limited number of keys', async (t) => {
  const counted: unknown[] = []
  const logged: unknown[] = []
  const ignored = new IgnoredObjects({
    count: (labels) => counted.push(labels),
    log: { warn: (fields) => logged.push(fields) },
    maxKeys: 2,
  })
  const tell = (key: string) => ignored.report({ kind: 'record', reason: 'content', key })
  for (const key of ['a', 'a', 'b', 'a', 'c', 'b']) tell(key)
  t.equal(counted.length, 6)
  t.strictSame(
    logged.map((fields) => (fields as { key: string }).key),
    ['a', 'b', 'c', 'b'],
  )
})

t.test('the signature of a marker is valid for its own key only', async (t) => {
  const text = signMarker('records/a', ring)
  t.ok(isSignedMarker('records/a', text, ring))
  t.ok(isSignedMarker('records/a', text, { current: 'k2', keys: { ...ring.keys, k2: 'Ym9i' } }), 'after a rotation too')
  for (const [key, other] of [
    ['records/b', text],
    ['records/a', ''],
    ['records/a', 'k1.'],
    ['records/a', `__proto__${text.slice(2)}`],
  ] as const)
    t.notOk(isSignedMarker(key, other, ring))
})
