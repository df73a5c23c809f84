import { createdAtOf, screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'

// Pages that try to block or exhaust a runner, and the allowed outcomes of their captures. The test captures each of them, and an ordinary page after it.

/** One page and the allowed outcomes of its capture: `Completed` or error codes. */
export interface HostileCase {
  name: string
  path: string
  isSecure?: true
  options?: CaptureOptions
  ends: readonly string[]
}

const WINDOW = { viewportWidth: 300, viewportHeight: 200 }

/** DNS rebinding is tested in test/e2e/attacks.test.ts, which has its own name server. */
export const HOSTILE_CASES: readonly HostileCase[] = [
  { name: 'an endless script', path: '/loop-at-once', options: { timeout: 2_000 }, ends: ['TIMEOUT'] },
  { name: 'endless dialogs, also on unload', path: '/alerts', ends: ['Completed'] },
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
  { name: 'endless redirects', path: '/redirect-loop', ends: ['TOO_MANY_REDIRECTS'] },
  { name: 'endless redirects by script', path: '/wander', ends: ['TOO_MANY_REDIRECTS'] },
  { name: 'a slow response', path: '/drip', options: { timeout: 2_000 }, ends: ['TIMEOUT'] },
  { name: 'a slow response with best_attempt', path: '/drip', options: { timeout: 2_000, bestAttempt: true }, ends: ['Completed'] },
  { name: 'a zip bomb of text', path: '/bomb', options: { timeout: 15_000 }, ends: ['PAGE_CRASHED', 'TIMEOUT', 'RESOURCE_LIMIT'] },
  { name: 'a zip bomb of pixels', path: '/pixel-bomb', ends: ['Completed', 'PAGE_CRASHED'] },
  { name: 'workers that fork', path: '/workers', ends: ['Completed'] },
  {
    name: 'a service worker that never responds',
    path: '/service-worker',
    isSecure: true,
    options: { delay: 500, timeout: 3_000, captureTimeout: 5_000 },
    ends: ['Completed', 'TIMEOUT'],
  },
  { name: 'WebRTC to private addresses', path: '/webrtc', options: { delay: 1_500 }, ends: ['Completed'] },
]

/** Captures a page on the tested pool. */
export type CaptureFunction = (path: string, options: CaptureOptions, isSecure?: true) => Promise<Screenshot>

/** Outcome of the capture of a hostile page, and of the next one of an ordinary page. */
export interface HostileOutcome {
  outcome: string
  seconds: number
  shot: Screenshot
  next: Screenshot
  isSamePod: boolean
  /** Milliseconds from the creation of the next capture to its claim and to its end. */
  nextStart: number
  nextEnd: number
}

const outcomeOf = ({ status }: Screenshot): string => status?.result?.error?.code ?? status?.phase ?? ''

/** Captures a hostile page, and then an ordinary one. */
export async function captureHostilePage(take: CaptureFunction, { path, options = {}, isSecure }: HostileCase): Promise<HostileOutcome> {
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
