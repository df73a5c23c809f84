import { createdAtOf, screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalogue.ts'

// Pages that want to keep or use up a runner, how their captures may end, and what the next capture is like: for the test and for the benchmark.

/** One page, and how its capture may end: `Completed`, or a code of an error. */
export interface HostileCase {
  name: string
  path: string
  isSecure?: true
  options?: CaptureOptions
  ends: readonly string[]
  /** Minutes rather than seconds: for the benchmark only. */
  isLong?: true
}

const WINDOW = { viewportWidth: 300, viewportHeight: 200 }

/** Addresses that change their mind are in test/e2e/attacks.test.ts, which has a name server of its own. */
export const HOSTILE_CASES: readonly HostileCase[] = [
  { name: 'an endless script', path: '/loop-at-once', options: { timeout: 2_000 }, ends: ['TIMEOUT'] },
  {
    name: 'an endless script after it has loaded',
    path: '/loop',
    options: { delay: 1_000, timeout: 2_000 },
    ends: ['TIMEOUT'],
    isLong: true,
  },
  { name: 'dialogues without end, also on leaving', path: '/alerts', ends: ['Completed'] },
  { name: 'popups', path: '/popups', ends: ['Completed'] },
  { name: 'a download', path: '/download', ends: ['UNSUPPORTED_CONTENT'] },
  { name: 'twenty downloads', path: '/downloads', ends: ['Completed'] },
  { name: 'a memory bomb', path: '/memory', options: { delay: 60_000 }, ends: ['PAGE_CRASHED'] },
  {
    name: 'a page of 100,000 pixels',
    path: '/tall?height=100000',
    options: { fullPage: true, fullPageMaxHeight: 50_000, captureTimeout: 120_000 },
    ends: ['Completed'],
  },
  { name: 'redirects without end', path: '/redirect-loop', ends: ['TOO_MANY_REDIRECTS'] },
  { name: 'redirects without end, by script', path: '/wander', ends: ['TOO_MANY_REDIRECTS'] },
  { name: 'a slow drip', path: '/drip', options: { timeout: 2_000 }, ends: ['TIMEOUT'] },
  { name: 'a slow drip, taken as it is', path: '/drip', options: { timeout: 2_000, bestAttempt: true }, ends: ['Completed'] },
  { name: 'a zip bomb of text', path: '/bomb', options: { timeout: 15_000 }, ends: ['PAGE_CRASHED', 'TIMEOUT', 'RESOURCE_LIMIT'] },
  { name: 'a zip bomb of pixels', path: '/pixel-bomb', ends: ['Completed', 'PAGE_CRASHED'] },
  { name: 'workers that fork', path: '/workers', ends: ['Completed'] },
  {
    name: 'a service worker that answers nothing',
    path: '/service-worker',
    isSecure: true,
    options: { delay: 500, timeout: 3_000, captureTimeout: 5_000 },
    ends: ['Completed', 'TIMEOUT'],
  },
  { name: 'WebRTC to private addresses', path: '/webrtc', options: { delay: 1_500 }, ends: ['Completed'] },
]

/** Takes one capture of the pool that is tried. */
export type Take = (path: string, options: CaptureOptions, isSecure?: true) => Promise<Screenshot>

/** How a capture of a hostile page ended, and the next one of an ordinary page. */
export interface Endured {
  outcome: string
  seconds: number
  shot: Screenshot
  next: Screenshot
  isSamePod: boolean
  /** Milliseconds from the creation of the next one to its claim, and to its end. */
  nextStart: number
  nextEnd: number
}

const outcomeOf = ({ status }: Screenshot): string => status?.result?.error?.code ?? status?.phase ?? ''

/** Captures a hostile page, and then an ordinary one. */
export async function endure(take: Take, { path, options = {}, isSecure }: HostileCase): Promise<Endured> {
  const started = performance.now()
  const shot = await take(path, { ...WINDOW, ...options }, isSecure)
  const seconds = (performance.now() - started) / 1_000
  const next = await take('/quadrants', WINDOW)
  const { startTime = '', completionTime = '' } = next.status ?? {}
  const created = createdAtOf(screenshotIdOf(next.metadata)).getTime()
  return {
    outcome: outcomeOf(shot),
    seconds,
    shot,
    next,
    isSamePod: next.status?.runner?.uid === shot.status?.runner?.uid,
    nextStart: Date.parse(startTime) - created,
    nextEnd: Date.parse(completionTime) - created,
  }
}
