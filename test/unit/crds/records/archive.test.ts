import fc from 'fast-check'
import t from 'tap'
import { isSignedMarker, signMarker } from '../../../../crds/src/crypto/signatures.ts'
import { derivedId, newId, screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { parseArchivedLine, readArchived, readSegment, toArchivedLine, toSegments } from '../../../../crds/src/records/archive.ts'
import { readCacheEntry } from '../../../../crds/src/records/cache.ts'
import { IgnoredObjects } from '../../../../crds/src/records/ignored-objects.ts'
import { digestOf, hasOwnName, isRestored, readNamedRecord } from '../../../../crds/src/records/named-record.ts'
import { toRecord } from '../../../../crds/src/records/record.ts'
import { dayOf, MAX_SEGMENT_RECORDS, parseSegmentKey, segmentsPrefix } from '../../../../crds/src/records/storage-keys.ts'
import { parseLog } from '../../../../crds/src/webhooks/deliveries.ts'
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'
import { aScreenshot, at, buildSegments, completedStatus, NOON } from '../../../support/fakes/builders.ts'
import { ring } from '../../../support/sources/mark-checks.ts'

const shot = (second: number, version = '1') =>
  aScreenshot({
    name: toObjectName(newId('scr', at(second), Buffer.alloc(10, second % 256))),
    metadata: { resourceVersion: version, uid: 'uid' },
    status: completedStatus(),
  })
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const linkTo = () => ({ url: 'https://x/', expires: 1 })

t.test('parseArchivedLine returns a Screenshot with the archived record', async (t) => {
  const full = aScreenshot({
    metadata: { annotations: { 'tintype.dev/a': '1', 'kubectl.kubernetes.io/last-applied-configuration': '{}' }, managedFields: [{}] },
    spec: {
      batchId: 'batch_1',
      externalIdentifier: 'order-7',
      options: { format: 'webp', fullPage: true },
      sealedOptions: 'secret',
      hiddenOptions: ['cookies'],
    },
    status: completedStatus({ deliveries: { 'screenshot.completed': { hook: { attempts: 1, at: at(3).toISOString(), state: 'ok' } } } }),
  })
  const line = toArchivedLine(full)
  t.notOk(line.includes('\n'))
  for (const dropped of ['secret', 'deliveries', 'managedFields', 'last-applied', 'pod-uid']) t.notOk(line.includes(dropped), dropped)
  const read = parseArchivedLine(line)
  t.strictSame(toRecord(read, linkTo), toRecord(full, linkTo))
  t.equal(read.metadata.resourceVersion, full.metadata.resourceVersion)
  t.equal(toArchivedLine(read), line, 'and may be archived again')
})

t.test('parseArchivedLine keeps fields of a later version', async (t) => {
  const line = toArchivedLine(shot(0)).replace('"spec":{', '"spec":{"novelty":7,')
  t.match(parseArchivedLine(line).spec, { novelty: 7 })
})

t.test('parseArchivedLine refuses other texts', async (t) => {
  for (const text of ['', '{}', '[]', '{"id":"scr_1","v":2}', toArchivedLine(shot(0)).replace('"v":1', '"v":2')])
    t.throws(() => parseArchivedLine(text), text)
})

t.test('toSegments sorts the records of a day newest first, and puts their range in the key', async (t) => {
  const shots = [shot(5), shot(9), shot(1)]
  const [segment, ...others] = buildSegments('acme', shots)
  t.strictSame(others, [])
  const ids = shots.map(idOf).sort()
  t.match(segment, { first: ids[0], last: ids[2], count: 3 })
  t.ok(segment?.key.startsWith(segmentsPrefix('acme', dayOf(ids[0]!))))
  const lines = readSegment(segment?.text ?? '')
  t.strictSame([lines.map(({ id }) => id), lines.map(({ line }) => idOf(parseArchivedLine(line)))], [ids, ids])
  const { text: _, ...name } = segment!
  t.strictSame(parseSegmentKey(segment!.key), name)
  t.strictSame(buildSegments('acme', shots.toReversed()), [segment], 'the same records give the same segment')
})

t.test('toSegments separates days and limits segments to 1,000 records', async (t) => {
  const shots = [...Array.from({ length: MAX_SEGMENT_RECORDS + 1 }, (_, n) => shot(n)), shot(-86_400)]
  const segments = buildSegments('acme', shots)
  t.match(segments, [{ count: MAX_SEGMENT_RECORDS }, { count: 1 }, { count: 1 }])
  t.equal(segments.length, 3)
  t.equal(new Set(segments.map(({ first }) => dayOf(first))).size, 2)
})

t.test('toSegments limits segments to 4 MiB', async (t) => {
  const options = { styles: 'x'.repeat(1_500_000) }
  const large = [0, 1, 2, 3, 4].map((second) => shot(second)).map((one) => ({ ...one, spec: { ...one.spec, options } }))
  const counts = buildSegments('acme', large).map(({ count }) => count)
  t.strictSame(counts, [2, 2, 1])
})

t.test('toSegments keeps only the later line of a record that was archived twice', async (t) => {
  const lines = [shot(1, '7'), shot(1, '12'), shot(1, '9')].map((one) => ({ id: idOf(one), line: toArchivedLine(one) }))
  const [segment] = toSegments('acme', lines)
  t.equal(segment?.count, 1)
  t.equal(parseArchivedLine(readSegment(segment?.text ?? '')[0]!.line).metadata.resourceVersion, '12')
})

t.test('parseSegmentKey refuses other keys', async (t) => {
  const { key } = buildSegments('acme', [shot(1)])[0]!
  assertAccepts(t, parseSegmentKey, [key], ['', 'x.ndjson', key.slice(0, -1), key.replace('.1.', '.x.'), key.replace('scr_', '')])
})

const options = { fullPage: true, format: 'png' } as const

t.test('digestOf is equal for equal specs, in whatever order their fields are', async (t) => {
  const one = digestOf(aScreenshot({ spec: { accountName: 'default', options } }))
  t.match(one, /^[0-9a-f]{64}$/)
  t.equal(digestOf(aScreenshot({ name: 'x', spec: { options: { format: 'png', fullPage: true } } })), one, 'default is the default account')
  t.not(digestOf(aScreenshot({ spec: { accountName: 'acme', options } })), one)
  t.not(digestOf(aScreenshot({ spec: { options: { ...options, fullPage: false } } })), one)
  t.not(digestOf(aScreenshot({ spec: { options, externalIdentifier: 'x' } })), one)
})

t.test('hasOwnName tells names of people from those of the programs', async (t) => {
  assertAccepts(t, hasOwnName, [aScreenshot({ name: 'home' })], [aScreenshot()])
})

t.test('isRestored does not hold for a record of a runner', async (t) => {
  const restoredFrom = derivedId('scr', NOON, 'a')
  const captured = [completedStatus({ restoredFrom, attempt: 1 }), completedStatus(), undefined]
  assertAccepts(t, (status) => isRestored(status ? { status } : {}), [completedStatus({ restoredFrom, attempt: 0 })], captured)
})

t.test('readNamedRecord treats other texts as absent', async (t) => {
  const named = { version: 1, id: derivedId('scr', NOON, 'a'), digest: 'a'.repeat(64) }
  t.strictSame(readNamedRecord(JSON.stringify(named), at(1)), named)
  const others = ['', '{}', JSON.stringify({ ...named, id: '../x' }), JSON.stringify({ ...named, digest: 'a' })]
  assertEvery(t, others, (text) => readNamedRecord(text, at(1)) === 'content')
  t.equal(readNamedRecord(JSON.stringify(named), at(-200_000)), 'time')
})

const completed = aScreenshot({ spec: { accountName: 'acme', options: { fullPage: true } }, status: completedStatus() })
const place = { account: 'acme', id: screenshotIdOf(completed.metadata) }
const now = at(60)

/** Any code unit, half of a pair too. fast-check's own `binary` builds a table of all code points, which takes seconds. */
const codeUnit = fc.nat(0xffff).map((code) => String.fromCharCode(code))

t.test('a record with any single change is either shown or counts as absent, without an error', async () => {
  const paths: (string | number)[][] = []
  const walk = (value: unknown, path: (string | number)[]): void => {
    paths.push(path)
    if (typeof value === 'object' && value !== null) for (const [key, child] of Object.entries(value)) walk(child, [...path, key])
  }
  const original = JSON.parse(toArchivedLine(completed))
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
    fc.property(fc.oneof(fc.string({ unit: codeUnit }), fc.json()), (text) => {
      readArchived(text, place, now)
      readCacheEntry(text, now)
      parseLog(text)
    }),
    { seed: 18, numRuns: 500 },
  )
})

t.test('readArchived returns why a record counts as absent', async (t) => {
  const line = toArchivedLine(completed)
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
  const log = { warn: (fields: object) => logged.push((fields as { key: string }).key) }
  const ignored = new IgnoredObjects({ count: (labels) => counted.push(labels), log, maxKeys: 2 })
  const tell = (key: string) => ignored.report({ kind: 'record', reason: 'content', key })
  for (const key of ['a', 'a', 'b', 'a', 'c', 'b']) tell(key)
  t.equal(counted.length, 6)
  t.strictSame(logged, ['a', 'b', 'c', 'b'])
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
