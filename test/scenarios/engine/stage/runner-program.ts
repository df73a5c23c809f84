/**
 * A runner without server and report: browsers, guard, steps, blank check and upload as in the product. Commands arrive on standard input,
 * one JSON object per line. It reports on standard output when it has taken a picture, and when it has stored it.
 */
import { createInterface } from 'node:readline'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import pino from 'pino'
import { flagsOf, launchBrowser } from '../../../../capture-runner/src/browser/browser.ts'
import { Browsers } from '../../../../capture-runner/src/browser/browsers.ts'
import { capture } from '../../../../capture-runner/src/capture/capture.ts'
import { createGuard } from '../../../../capture-runner/src/egress/guard.ts'
import { HttpCache } from '../../../../capture-runner/src/http-cache/http-cache.ts'
import { createMemoryWatch } from '../../../../capture-runner/src/runtime/memory-watch.ts'
import { Runner } from '../../../../capture-runner/src/server/runner.ts'

/** Settings of the program, as JSON in the environment variable BENCH_RUNNER. */
export interface RunnerSettings {
  executablePath: string
  chromiumSandbox: boolean
  /** Absent: as shipped. */
  maxCaptures?: number
}

/** Messages about a capture: first that the next one can start, then its end. */
export type RunnerNews = { uid: string; isTaken: true } | ({ uid: string; isTaken: false } & RunnerMessage)

/** Result of a finished capture. */
export interface RunnerMessage {
  phase: string
  milliseconds: number
  timings: Record<string, number>
  message?: string | undefined
  warnings?: readonly string[] | undefined
  /** Size of the picture in device pixels. */
  height?: number | undefined
}

const settings = JSON.parse(process.env.BENCH_RUNNER ?? '{}') as RunnerSettings
const log = pino({ level: 'warn' }, pino.destination(2))
const { maxCaptures, ...launching } = settings
const guard = createGuard({ ownAddresses: [] })
const browsers = new Browsers({
  launch: () => launchBrowser({ ...launching, guard, extraArguments: flagsOf(true, false) }),
  hasFrameControl: true,
  isolation: 'context',
  log,
  ...(maxCaptures === undefined ? {} : { maxCaptures }),
})
const parts = {
  browsers,
  guard,
  // Loopback is allowed, because the pages are served there.
  policy: { rules: { allowedHosts: [], allowedCidrs: ['127.0.0.0/8'], deniedCidrs: [], allowedPorts: [] }, maxBytes: 512 * 2 ** 20 },
  memory: createMemoryWatch({ limitBytes: undefined, log }),
  httpCache: new HttpCache(),
}
const send = (news: RunnerNews | object): void => void process.stdout.write(`${JSON.stringify(news)}\n`)
const runner = new Runner({
  capture: (order, canceled, { onPageReady, onTaken }) =>
    capture(order, parts, canceled, {
      onTaken,
      onPageReady: () => {
        onPageReady()
        send({ uid: order.uid, isTaken: true })
      },
    }),
  report: async ({ uid }, { phase, result }) => {
    const { processingMilliseconds: milliseconds = 0, timings = {}, error, warnings, height } = result
    send({ uid, isTaken: false, phase, milliseconds, timings, message: error && `${error.code} ${error.message}`, warnings, height })
    return 'written'
  },
  log,
})
await browsers.start()
send({})
for await (const line of createInterface({ input: process.stdin })) {
  const { kind } = runner.accept(JSON.parse(line) as CaptureOrder)
  if (kind !== 'accepted') throw new Error(`the runner was ${kind}`)
}
await browsers.stop()
process.exit(0)
