import type { WaitState } from '@tintype/crds/options/page/waiting'
import type { MainResponse } from '../../browser/lifecycle.ts'
import type { Tab } from '../../browser/tab.ts'
import { classifyFailure } from '../../egress/classify-failure.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { answered, bounded, raced } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { showPdf } from './show-pdf.ts'

/** Requests that one capture may make. */
const MAX_REQUESTS = 10_000

/** Opens the page and waits for every state that was asked for, within one timeout. */
export const navigate: Step = {
  name: 'navigate',
  code: 'NAVIGATION_FAILED',
  run: async (work) => {
    const { tab, plan } = work
    tab.lifecycle.quiet = plan.quiet
    using time = bounded(work.signal, plan.timeoutMilliseconds, () => tooSlow(plan.timeoutMilliseconds))
    const answer = await raced(tab.session.send('Page.navigate', { url: plan.url, ...refererOf(plan) }), time.signal)
    // Awaited here: the time's clock stops when this function ends.
    if (answer.isDownload) return await showFile(work, time.signal)
    if (answer.errorText) throw toFailure(tab, plan.url, answer.errorText)
    await arrive(work, time.signal)
  },
}

/** Shows a PDF, and names any other file that the URL answers with. The response is heard once the page has answered again: see listenAlong. */
async function showFile(work: Work, signal: AbortSignal): Promise<void> {
  const { session, lifecycle } = work.tab
  await answered(session.send('Page.getLayoutMetrics'), signal)
  const { download } = lifecycle
  if (download?.mimeType === PDF && !work.plan.pages) return showPdf(work, download.url, signal, () => arrive(work, signal))
  throw new CaptureError('UNSUPPORTED_CONTENT', `the URL answers with ${describeFile(download)}, not a page. ${INSTEAD}`)
}

const PDF = 'application/pdf'

const INSTEAD = 'Fetch the file itself, or give the URL of a page that shows it.'
/** Types that are repeated to the client: a site may send anything. */
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

function describeFile(response: MainResponse | undefined): string {
  const { mimeType = '', isAttachment = false } = response ?? {}
  const kind = mimeType === PDF ? 'a PDF' : isAttachment ? 'a file to save' : 'a file'
  return MIME_TYPE.test(mimeType) ? `${kind} (${mimeType})` : kind
}

/** The whole address, as the client gave it: no policy of a page cuts it short. */
const refererOf = ({ referer }: Work['plan']) => (referer === undefined ? {} : { referrer: referer, referrerPolicy: 'unsafeUrl' as const })

/** After scripts or a click: waits for the document that the page has gone to, if it has. */
export async function follow(work: Work): Promise<void> {
  const { plan } = work
  using time = bounded(work.signal, plan.timeoutMilliseconds, () => tooSlow(plan.timeoutMilliseconds))
  await arrive(work, time.signal)
}

/** After scripts that change the page: waits for these states once more, of the document that is shown then. */
export async function arriveAgain(work: Work, states: readonly WaitState[]): Promise<void> {
  const { plan, tab } = work
  using time = bounded(work.signal, plan.timeoutMilliseconds, () => tooSlow(plan.timeoutMilliseconds))
  if (states.includes('networkidle')) tab.lifecycle.expectQuiet()
  await arrive(work, time.signal, [...new Set([...plan.states, ...states])])
}

/**
 * Waits until the shown document has reached the plan's states. A network that never rests is no failure: the capture goes on with a warning.
 * @throws CaptureError of the main frame's failure
 */
async function arrive(work: Work, signal: AbortSignal, states: readonly WaitState[] = work.plan.states): Promise<void> {
  const { tab } = work
  try {
    await tab.lifecycle.reach(
      states.filter((state) => state !== 'networkidle'),
      signal,
    )
    if (states.includes('networkidle')) await rest(work, signal)
  } catch (error) {
    if (!mayGoOn(work)) throw error
    warnOnce(work.findings.warnings, toMessage(error))
    tab.lifecycle.forgive(tab.lifecycle.missing(states))
  }
  checkMainFrame(tab)
}

/** Waits for the network to rest, for as long as the plan says. */
async function rest({ tab, plan, findings }: Work, signal: AbortSignal): Promise<void> {
  const { timeoutMilliseconds } = plan.quiet
  const tired = () => new CaptureError('TIMEOUT', `the network did not rest within ${timeoutMilliseconds} ms`)
  using time = bounded(signal, timeoutMilliseconds, tired)
  try {
    await tab.lifecycle.reach([...plan.states.filter((state) => state !== 'networkidle'), 'networkidle'], time.signal)
  } catch (error) {
    if (!isOnlyBusy(tab, plan.states)) throw error
    warnOnce(findings.warnings, `the network did not rest within ${timeoutMilliseconds} ms`)
    // Nor will it the next time that somebody asks.
    tab.lifecycle.forgive(['networkidle'])
  }
}

/** A best attempt takes what is shown when the time is over, if anything is. */
const mayGoOn = ({ tab, plan, signal }: Work): boolean =>
  !signal.aborted && plan.isBestAttempt && tab.lifecycle.document !== undefined && tab.lifecycle.failure === undefined

const toMessage = (error: unknown): string => (error instanceof Error ? error.message : 'the page did not load in time')

/** @throws CaptureError when what the page shows is not the page */
export function checkMainFrame({ lifecycle, exit }: Tab): void {
  const { failure } = lifecycle
  if (failure?.kind === 'circle') throw new CaptureError('TOO_MANY_REDIRECTS', 'the page goes from document to document without end')
  if (failure) throw toFailureOf(exit.requestLog, failure.url, failure.netError)
  if (exit.requestLog.isExhausted) throw toFailureOf(exit.requestLog, '', undefined)
  if (lifecycle.requests > MAX_REQUESTS) {
    throw new CaptureError('RESOURCE_LIMIT', `the page made more than ${MAX_REQUESTS} requests`)
  }
}

const isOnlyBusy = ({ lifecycle }: Tab, states: readonly WaitState[]): boolean =>
  lifecycle.document !== undefined && !lifecycle.isMoving && lifecycle.missing(states).every((state) => state === 'networkidle')

function toFailure({ lifecycle, exit }: Tab, url: string, errorText: string): CaptureError {
  if (errorText === 'net::ERR_ABORTED' && !exit.requestLog.isExhausted) {
    return new CaptureError('NAVIGATION_FAILED', 'the address answers without content')
  }
  return toFailureOf(exit.requestLog, lifecycle.failure?.url ?? url, errorText)
}

function toFailureOf(requestLog: Tab['exit']['requestLog'], url: string, netError: string | undefined): CaptureError {
  const { code, message } = classifyFailure(requestLog, url, netError)
  return new CaptureError(code, message)
}

const tooSlow = (milliseconds: number) => new CaptureError('TIMEOUT', `the page did not load within ${milliseconds} ms`)

const warnOnce = (warnings: string[], warning: string): void => {
  if (!warnings.includes(warning)) warnings.push(warning)
}
