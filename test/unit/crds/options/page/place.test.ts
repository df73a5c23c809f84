import t from 'tap'
import { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'
import { isFixedTime } from '../../../../../crds/src/options/page/place.ts'

t.test('times as other programs write them, such as with microseconds, were refused', async (t) => {
  const written = [
    '2026-01-01T00:00:00.123456Z',
    '2026-01-01T00:00:00.123456789+00:00',
    '2026-01-01t10:00:00z',
    '2026-01-01 10:00:00-03:30',
  ]
  for (const fixedTime of written) {
    t.ok(CaptureOptions.safeParse({ fixedTime }).success, fixedTime)
    t.ok(isFixedTime(fixedTime), `Date reads ${fixedTime}`)
  }
})

t.test('fixed_time refuses days and times that do not exist, which Date would move to another day', async (t) => {
  const taken = ['2024-02-29', '2026-12-31T23:59Z', '2026-01-01T00:00:59.5+14:00', '2000-02-29T12:00:00-03:30']
  const refused = [
    ...['2026-02-30', '2025-02-29T00:00Z', '2100-02-29', '2026-04-31T10:00:00Z', '2026-13-01', '2026-00-10', '2026-01-00'],
    ...['2026-01-01T24:00Z', '2026-01-01T10:60Z', '2026-01-01T10:00:60Z', '2026-01-01T10:00+25:00', '2026-01-01T10:00', '2026-01-01T'],
  ]
  t.strictSame(
    [...taken, ...refused].filter((fixedTime) => CaptureOptions.safeParse({ fixedTime }).success),
    taken,
  )
})
