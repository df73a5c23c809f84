import t from 'tap'
import { type Holder, type RunningDownload, Shares } from '../../../../../api-gateway/src/resources/files/shares.ts'

interface Named extends RunningDownload {
  name: string
}

/** Names of files are unique across accounts, as object keys are. */
const fileOf = (name: string): Holder => ({ account: name[0]!, file: name.slice(0, 2) })

/** A moving download. Its name begins with account and file, such as `a1`. */
const fast = (name: string, bytesPerSecond = 1_000_000): Named => ({
  name,
  ...fileOf(name),
  progress: { bytesPerSecond, isSlow: false, idleMilliseconds: 0 },
})
const idle = (name: string, idleMilliseconds: number): Named => ({ ...fast(name), progress: { ...fast(name).progress, idleMilliseconds } })
const slow = (name: string, bytesPerSecond: number): Named => ({
  ...fast(name),
  progress: { bytesPerSecond, isSlow: true, idleMilliseconds: 5_000 },
})
const sharesOf = (running: Named[], waiting: string[] = []) => new Shares(running, waiting.map(fileOf))

t.test('the slowest download below the minimum rate ends first', async (t) => {
  const shares = sharesOf([fast('a1 fast'), slow('a1 slow', 9_000), slow('a2 slowest', 100), fast('a3 fast')])
  t.equal(shares.findSlow(fileOf('a1'))?.name, 'a2 slowest', 'for another one of the account')
  t.equal(shares.findSlow(fileOf('b1'))?.name, 'a2 slowest', 'for another account')
  t.strictSame(
    shares.slow.map(({ name }) => name),
    ['a2 slowest', 'a1 slow'],
  )
  t.equal(sharesOf([fast('a1')]).findSlow(fileOf('b1')), undefined)
})

t.test('a busy account does not end slow downloads of an account with fewer slots', async (t) => {
  const shares = sharesOf([fast('a1'), fast('a2'), slow('b1', 100)])
  t.equal(shares.findSlow(fileOf('a3')), undefined)
  t.equal(sharesOf([slow('a1', 100), slow('b1', 50)]).findSlow(fileOf('a2'))?.name, 'a1', 'of equal accounts, each ends its own')
})

t.test('the account with the most slots gives one to an account with two less', async (t) => {
  const running = [fast('a1'), fast('a2'), fast('a3'), fast('b1'), fast('b2')]
  t.match(sharesOf(running).findLargest(fileOf('c1')), { account: 'a' })
  t.match(sharesOf(running, ['c1']).findLargest(fileOf('c1')), { account: 'a' })
  t.equal(sharesOf(running, ['c1', 'c1']).findLargest(fileOf('c1')), undefined, 'downloads that wait count')
  t.equal(sharesOf(running).findLargest(fileOf('b3')), undefined, 'one more would be an equal exchange')
  t.equal(sharesOf(running).findLargest(fileOf('a4')), undefined, 'an account takes nothing from smaller ones')
})

t.test('the file with the most slots of an account gives one to a file with two less', async (t) => {
  const running = [fast('a1'), fast('a1'), fast('a2'), fast('b1')]
  t.match(sharesOf(running).findLargest(fileOf('a3')), { file: 'a1' })
  t.equal(sharesOf(running).findLargest(fileOf('a2')), undefined)
  t.equal(sharesOf(running).findLargest(fileOf('a1')), undefined)
})

t.test('of the largest account, the download ends that has not moved for the longest time', async (t) => {
  const running = [idle('a1 reads', 0), idle('a2 stopped', 8_000), idle('a2 paused', 2_000), idle('b1 stopped', 50_000)]
  t.equal(sharesOf(running).findLargest(fileOf('c1'))?.name, 'a2 stopped')
})

t.test('of moving downloads, the slowest one of the file with the most slots ends', async (t) => {
  const running = [fast('a1 fast', 9), fast('a1 slowest', 5), fast('a1 slower', 7), fast('a2 alone', 1)]
  t.equal(sharesOf(running).findLargest(fileOf('b1'))?.name, 'a1 slowest')
})

t.test('a refusal says who has the slots', async (t) => {
  t.equal(sharesOf([fast('a1'), fast('b1')]).reasonFor(fileOf('a2')), 'account')
  t.equal(sharesOf([fast('a1'), fast('a2')]).reasonFor(fileOf('a1')), 'file')
  t.equal(sharesOf([fast('a1'), fast('a1')]).reasonFor(fileOf('a1')), 'replica', 'only this file is downloaded')
  t.equal(sharesOf([fast('a1'), fast('a2')]).reasonFor(fileOf('a3')), 'replica')
  t.equal(sharesOf([fast('a1'), fast('b1')]).reasonFor(fileOf('c1')), 'replica')
})
