import t from 'tap'
import { newId, screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { parseArchivedLine, readSegment, toArchivedLine, toSegments } from '../../../../crds/src/records/archive.ts'
import { toRecord } from '../../../../crds/src/records/record.ts'
import { dayOf, MAX_SEGMENT_RECORDS, parseSegmentKey, segmentsPrefix } from '../../../../crds/src/records/storage-keys.ts'
import { aScreenshot, at, buildSegments, completedStatus } from '../../../support/fakes/builders.ts'

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
  t.strictSame(
    readSegment(segment?.text ?? '').map(({ id }) => id),
    ids,
  )
  t.strictSame(
    readSegment(segment?.text ?? '').map(({ line }) => idOf(parseArchivedLine(line))),
    ids,
  )
  const { text: _, ...name } = segment!
  t.strictSame(parseSegmentKey(segment!.key), name)
  t.strictSame(buildSegments('acme', shots.toReversed()), [segment], 'the same records give the same segment')
})

t.test('toSegments separates days and limits segments to 1,000 records', async (t) => {
  const shots = [...Array.from({ length: MAX_SEGMENT_RECORDS + 1 }, (_, n) => shot(n)), shot(-86_400)]
  const segments = buildSegments('acme', shots)
  t.strictSame(
    segments.map(({ count }) => count),
    [MAX_SEGMENT_RECORDS, 1, 1],
  )
  t.equal(new Set(segments.map(({ first }) => dayOf(first))).size, 2)
})

t.test('toSegments limits segments to 4 MiB', async (t) => {
  const large = Array.from({ length: 5 }, (_, n) => {
    const one = shot(n)
    return { ...one, spec: { ...one.spec, options: { styles: 'x'.repeat(1_500_000) } } }
  })
  t.strictSame(
    buildSegments('acme', large).map(({ count }) => count),
    [2, 2, 1],
  )
})

t.test('toSegments keeps only the later line of a record that was archived twice', async (t) => {
  const lines = [shot(1, '7'), shot(1, '12'), shot(1, '9')].map((one) => ({ id: idOf(one), line: toArchivedLine(one) }))
  const [segment] = toSegments('acme', lines)
  t.equal(segment?.count, 1)
  t.equal(parseArchivedLine(readSegment(segment?.text ?? '')[0]!.line).metadata.resourceVersion, '12')
})

t.test('parseSegmentKey refuses other keys', async (t) => {
  const { key } = buildSegments('acme', [shot(1)])[0]!
  for (const text of ['', 'x.ndjson', key.slice(0, -1), key.replace('.1.', '.x.'), key.replace('scr_', '')])
    t.equal(parseSegmentKey(text), undefined, text)
})
