import { access, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { withLock } from '../../cluster/host/lock.ts'
import { identify } from '../../cluster/host/process-identity.ts'

const aFile = (t: { testdir: () => string }) => path.join(t.testdir(), 'cache', 'lock')

t.test('withLock resolves to the result of the work and removes its files', async (t) => {
  const file = aFile(t)
  t.equal(await withLock(file, async () => 'done'), 'done')
  await t.rejects(access(file))
})

t.test('withLock releases the lock when the work fails', async (t) => {
  const file = aFile(t)
  await t.rejects(
    withLock(file, async () => {
      throw new Error('broken')
    }),
    /broken/,
  )
  t.equal(await withLock(file, async () => 'next'), 'next')
})

t.test('withLock takes over from a holder that has ended', async (t) => {
  const file = aFile(t)
  await mkdir(path.dirname(file), { recursive: true })
  const self = await identify(process.pid)
  await writeFile(file, JSON.stringify({ ...self, startTicks: 1 }))
  t.equal(await withLock(file, async () => 'mine'), 'mine')
})

t.test('withLock takes over a lock file that is incomplete after a crash', async (t) => {
  const file = aFile(t)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, '{"pi')
  t.equal(await withLock(file, async () => 'mine'), 'mine')
})

t.test('withLock waits for a running holder and reports its process id once', async (t) => {
  const file = aFile(t)
  const order: string[] = []
  const waited: number[] = []
  let release = () => {}
  let isHeld = () => {}
  const held = new Promise<void>((resolve) => {
    isHeld = resolve
  })
  const first = withLock(file, async () => {
    isHeld()
    await new Promise<void>((resolve) => {
      release = resolve
    })
    order.push('first')
  })
  await held
  const second = withLock(
    file,
    async () => void order.push('second'),
    (pid) => {
      waited.push(pid)
      release()
    },
  )
  await Promise.all([first, second])
  t.strictSame(order, ['first', 'second'])
  t.strictSame(waited, [process.pid])
})
