import t from 'tap'
import {
  type Circuit,
  CLOSED,
  heldUntil,
  isForgettable,
  withEnd,
  withStart,
} from '../../../../../../operator/src/controllers/delivery/flow-control/circuit.ts'

const MINUTE = 60_000
/** Posts that end at `now`, one letter each: s for success, f for failure. */
const after = (circuit: Circuit, ends: string, now = 0): Circuit => [...ends].reduce((sum, end) => withEnd(sum, end === 's', now), circuit)
const isOpen = ({ openUntil }: Circuit): boolean => openUntil !== undefined

t.test('withEnd opens the circuit at seven failures of ten posts, and not before the tenth', async (t) => {
  const cases: [ends: string, opens: boolean][] = [
    ['fffffffff', false],
    ['ffffffffff', true],
    ['sssfffffff', true],
    ['ssssffffff', false],
    ['sssssssssssssss', false],
  ]
  for (const [ends, opens] of cases) t.equal(isOpen(after(CLOSED, ends)), opens, ends)
})

t.test('withEnd counts only the last five minutes', async (t) => {
  const early = after(CLOSED, 'fffffffff')
  t.ok(isOpen(withEnd(early, false, 4 * MINUTE)))
  t.notOk(isOpen(withEnd(early, false, 5 * MINUTE)))
})

t.test('heldUntil delays an attempt until the end of the pause, at most thirty seconds after it was due', async (t) => {
  const open = after(CLOSED, 'ffffffffff')
  t.equal(heldUntil(open, 0, 1_000), 30_000)
  t.equal(heldUntil(open, -20_000, 1_000), 10_000)
  t.equal(heldUntil(open, -40_000, 1_000), undefined, 'it was delayed long enough')
  t.equal(heldUntil(CLOSED, 0, 1_000), undefined)
})

t.test('heldUntil lets one post probe after the pause, and delays the others until it has ended', async (t) => {
  const open = after(CLOSED, 'ffffffffff')
  t.equal(heldUntil(open, 25_000, 30_000), undefined)
  const probing = withStart(open, 30_000)
  t.equal(heldUntil(probing, 25_000, 30_001), 55_000)
  t.equal(heldUntil(withEnd(probing, undefined, 30_002), 25_000, 30_003), undefined, 'the probe was not sent: another post may start')
})

t.test('withEnd closes the circuit after a successful probe, and starts a new pause after a failed one', async (t) => {
  const probing = withStart(after(CLOSED, 'ffffffffff'), 30_000)
  t.strictSame(withEnd(probing, true, 31_000), CLOSED)
  t.equal(heldUntil(withEnd(probing, false, 31_000), 31_000, 31_000), 61_000)
})

t.test('withEnd does not treat a late result of an earlier post as a probe', async (t) => {
  const open = after(CLOSED, 'ffffffffff')
  t.ok(isOpen(withEnd(open, true, 5_000)))
  t.equal(withEnd(open, false, 5_000).openUntil, open.openUntil)
})

t.test('isForgettable is true for an endpoint without posts in five minutes, and for an old pause', async (t) => {
  const failing = after(CLOSED, 'f')
  t.notOk(isForgettable(failing, MINUTE))
  t.ok(isForgettable(failing, 5 * MINUTE))
  const open = after(CLOSED, 'ffffffffff')
  t.notOk(isForgettable(open, 5 * MINUTE))
  t.ok(isForgettable(open, 6 * MINUTE))
})
