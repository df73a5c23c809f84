import t from 'tap'
import { MINIMUM_BYTES_PER_SECOND, Progress } from '../../../../../api-gateway/src/resources/files/progress.ts'

/** The progress after samples of each second, in which a client takes `bytesOf(second)`. */
function after(seconds: number, bytesOf: (second: number) => number): Progress {
  const progress = new Progress(0, 500)
  let bytes = 500
  for (let second = 1; second <= seconds; second++) {
    bytes += bytesOf(second)
    progress.add(second * 1_000, bytes)
  }
  return progress
}

t.test('a download is slow when its rate was below the minimum for 30 seconds', async (t) => {
  const below = () => MINIMUM_BYTES_PER_SECOND - 1
  t.equal(after(29, below).isSlow, false)
  t.equal(after(30, below).isSlow, true)
  t.equal(after(30, () => MINIMUM_BYTES_PER_SECOND).isSlow, false)
  t.equal(after(30, (second) => (second === 30 ? 30 * MINIMUM_BYTES_PER_SECOND : 0)).isSlow, false, 'the rate is an average')
})

t.test('a client that fills its buffer at the start and then reads 2 KB each 15 seconds is slow after 30 seconds', async (t) => {
  const trickling = (second: number) => (second === 1 ? 5_000_000 : second % 15 === 0 ? 2_048 : 0)
  t.equal(after(30, trickling).isSlow, false)
  t.equal(after(31, trickling).isSlow, true)
  t.ok(after(600, trickling).isSlow)
})

t.test('the rate of a download is that of its last 30 seconds, and of all its time before', async (t) => {
  t.equal(new Progress(0, 500).bytesPerSecond, Number.POSITIVE_INFINITY, 'unknown before the second sample')
  t.equal(after(10, () => 1_000).bytesPerSecond, 1_000)
  t.equal(after(60, (second) => (second <= 30 ? 1_000 : 2_000)).bytesPerSecond, 2_000)
  t.equal(after(45, (second) => (second <= 30 ? 1_000 : 2_000)).bytesPerSecond, 1_500)
})

t.test('a download is idle since the last sample with more bytes', async (t) => {
  t.equal(after(20, (second) => (second <= 5 ? 1 : 0)).idleMilliseconds, 15_000)
  t.equal(after(20, () => 1).idleMilliseconds, 0)
  const waiting = new Progress(0, 500)
  waiting.add(7_000)
  t.equal(waiting.idleMilliseconds, 7_000, 'a response that has no connection yet')
})
