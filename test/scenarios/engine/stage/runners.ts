import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { RUNNER_NODE_FLAGS } from '../../../support/processes/as-in-pod.ts'
import { type LineProgram, openLines } from '../../harness/line-program.ts'
import { createProcessorClock } from '../../harness/processes.ts'
import type { Contender } from './contenders.ts'
import { CHROMIUM, type Store } from './engine.ts'
import type { RunnerMessage, RunnerNews, RunnerSettings } from './runner-program.ts'

const PROGRAM = path.join(import.meta.dirname, 'runner-program.ts')
const DEADLINE_MILLISECONDS = 600_000

type BenchRunner = Awaited<ReturnType<typeof openRunner>>

/** Starts a runner and waits until its first browser is ready. @param more settings of the runner; default: as shipped */
export async function openRunner(store: Store, more: Partial<RunnerSettings> = {}) {
  // Chromium's sandbox does not start as root, so no contender has it.
  const settings: RunnerSettings = { executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0, ...more }
  const env = { ...process.env, BENCH_RUNNER: JSON.stringify(settings) }
  const program: LineProgram<CaptureOrder, never> = openLines(process.execPath, [...RUNNER_NODE_FLAGS, PROGRAM], env)
  await program.hear()
  const open = new Map<string, { taken: () => void; stored: (answer: RunnerMessage) => void; fail: (error: unknown) => void }>()
  const listen = async (): Promise<void> => {
    for (;;) {
      const news = (await program.hear()) as RunnerNews
      open.get(news.uid)?.taken()
      if (news.isTaken) continue
      open.get(news.uid)?.stored(news)
      open.delete(news.uid)
    }
  }
  listen().catch((error: unknown) => {
    for (const { fail } of open.values()) fail(error)
  })
  /**
   * Starts a capture that will be stored under this key. `taken` resolves when the picture is taken or the capture has failed, so that the next one can
   * start; `stored` rejects when the capture failed.
   */
  const begin = (url: string, key: string, options?: CaptureOptions) => {
    const uid = randomUUID()
    const [taken, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<RunnerMessage>()]
    open.set(uid, { taken: taken.resolve, stored: ended.resolve, fail: ended.reject })
    program.send({ ...FIXED, uid, name: key, url, ...(options ? { options } : {}), upload: store.uploadOf(key), deadline: inTenMinutes() })
    const stored = ended.promise.then((answer) => {
      if (answer.phase !== 'Completed') throw new Error(`${url}: ${answer.message}`)
      return answer
    })
    return { taken: Promise.race([taken.promise, stored.then(() => {})]), stored }
  }
  /** Runs a capture to its end. */
  const capture = (...given: Parameters<typeof begin>) => begin(...given).stored
  return { pid: program.pid, begin, capture, close: program.close }
}

/** Orders use the last attempt, because a runner does not report the failure of earlier ones. */
const FIXED = { namespace: 'bench', accountName: 'bench', attempt: 3 }

const inTenMinutes = (): number => Date.now() + DEADLINE_MILLISECONDS

/** One runner per lane, each with its own browsers. A runner takes the next page after the picture, while the upload continues. */
export function openFleet(store: Store): Contender & { answers: RunnerMessage[] } {
  const fleet: BenchRunner[] = []
  const answers: RunnerMessage[] = []
  const clock = createProcessorClock()
  return {
    name: 'runner',
    lanes: [1, 2, 4],
    answers,
    run: async (pages, lanes) => {
      while (fleet.length < lanes) fleet.push(await openRunner(store))
      const keys = new Map<string, string>()
      const todo = [...pages]
      const started = performance.now()
      const work = async (runner: BenchRunner): Promise<void> => {
        let last: Promise<unknown> = Promise.resolve()
        for (let page = todo.shift(); page !== undefined; page = todo.shift()) {
          const key = `${randomUUID()}.png`
          keys.set(page, key)
          const { taken, stored } = runner.begin(page, key)
          const noted = stored.then((answer) => answers.push(answer))
          await taken
          await last
          last = noted
        }
        await last
      }
      await Promise.all(fleet.slice(0, lanes).map(work))
      const milliseconds = performance.now() - started
      const pictures = new Map<string, Buffer>()
      for (const [page, key] of keys) pictures.set(page, await store.read(key))
      return { milliseconds, pictures }
    },
    processorSeconds: () => clock(fleet.map(({ pid }) => pid)),
    close: async () => {
      for (const runner of fleet.splice(0)) await runner.close()
    },
  }
}
