import t from 'tap'
import { Backlog, ProgressStore } from '../../../../../operator/src/controllers/delivery/progress.ts'

function aBacklog() {
  let now = 0
  const reported: string[] = []
  const backlog = new Backlog(() => now)
  backlog.onFull = (keys) => reported.push(`full ${keys.length}`)
  backlog.onRoom = () => reported.push('room')
  const later = (milliseconds: number) => {
    now += milliseconds
  }
  const fill = (count: number) => {
    for (let n = 0; n < count; n++) backlog.add(`delivery-${n}`, `shot-${n % 10}`)
  }
  return { backlog, reported, later, fill }
}

t.test('Backlog is full with 32 results, reports their Screenshots once, and reports when there is room again', async (t) => {
  const { backlog, reported, fill } = aBacklog()
  fill(31)
  t.equal(backlog.isFull, false)
  fill(40)
  t.strictSame([backlog.isFull, reported], [true, ['full 10']])
  for (let n = 0; n < 8; n++) backlog.remove(`delivery-${n}`)
  t.equal(backlog.isFull, true)
  backlog.remove('delivery-8')
  backlog.remove('delivery-8')
  backlog.remove('delivery-9')
  t.strictSame([backlog.isFull, reported], [false, ['full 10', 'room']])
})

t.test('Backlog lets posts start when its results cannot be written for a long time', async (t) => {
  const { backlog, later, fill } = aBacklog()
  fill(32)
  later(29_999)
  t.equal(backlog.isFull, true)
  later(1)
  t.equal(backlog.isFull, false)
})

t.test('ProgressStore counts results until they are written, replaced or removed', async (t) => {
  const { backlog } = aBacklog()
  const progressStore = new ProgressStore(backlog)
  const ended = { state: 'ended' as const, attempt: 1, at: new Date(0), isSuccess: true, statusCode: 200, jitter: 0 }
  const end = (count: number) => {
    for (let n = 0; n < count; n++) progressStore.of(`shot-${n}`, `uid-${n}`).set('screenshot.completed', 'hook', ended)
  }
  end(32)
  t.equal(backlog.isFull, true)
  progressStore.of('shot-0', 'uid-0').delete('screenshot.completed', 'hook')
  t.equal(backlog.isFull, false, 'written')
  end(32)
  progressStore.of('shot-1', 'uid-1').set('screenshot.completed', 'hook', { state: 'waiting', attempt: 2 })
  t.equal(backlog.isFull, false, 'another attempt')
  end(32)
  progressStore.forget('shot-2')
  t.equal(backlog.isFull, false, 'forgotten')
  end(32)
  progressStore.of('shot-3', 'another uid')
  t.equal(backlog.isFull, false, 'the object was recreated')
})
