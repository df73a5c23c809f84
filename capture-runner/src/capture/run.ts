import { setTimeout as sleep } from 'node:timers/promises'
import type { FilterLists } from '../blocking/lists.ts'
import type { DevTools } from '../browser/devtools.ts'
import type { Tab } from '../browser/tab.ts'
import { TASK_MILLISECONDS } from '../browser/task-watch.ts'
import { describeRefusals } from '../egress/refusal.ts'
import type { BatchCache } from '../http-cache/http-cache.ts'
import type { CapturePlan } from '../plan/plan.ts'
import { CaptureError, toCaptureError } from '../runtime/errors.ts'
import { abortable, pause } from '../runtime/race.ts'
import { renewEffects, withEffects } from '../steps/effects/effects.ts'
import { frame, measure, noteWidth } from '../steps/full-page/frame.ts'
import { conceal, followGrowth, noteSectionLinks, reveal } from '../steps/full-page/reveal.ts'
import { scroll, sweep } from '../steps/full-page/scroll.ts'
import { noteFolded, unfold } from '../steps/full-page/unfold.ts'
import { loadFiles } from '../steps/injection/load-files.ts'
import { mask, redact } from '../steps/injection/mask.ts'
import { initScript, scripts } from '../steps/injection/scripts.ts'
import { styles } from '../steps/injection/styles.ts'
import { checkSyntax } from '../steps/injection/syntax.ts'
import { checkContent, checkResponse } from '../steps/navigation/check-content.ts'
import { holdRequests } from '../steps/navigation/hold-requests.ts'
import { follow, navigate } from '../steps/navigation/navigate.ts'
import { openMarkup } from '../steps/navigation/open-markup.ts'
import { noteCookies, noteEarlyRedirect, noteLateRedirect, signIn } from '../steps/navigation/sign-in.ts'
import { listen, watchPage } from '../steps/navigation/watch-page.ts'
import { files, lateFiles } from '../steps/output/files.ts'
import { metadata, notePage, notePicture } from '../steps/output/notes.ts'
import { print } from '../steps/output/print.ts'
import { muteMedia, record } from '../steps/output/record.ts'
import { ignoredElements, preview, process, screenshot, thumbnail } from '../steps/output/screenshot.ts'
import { click, clickAll, hover, pressKey } from '../steps/preparing/click.ts'
import { consent } from '../steps/preparing/consent.ts'
import { hideLatecomers, hideUnwanted } from '../steps/preparing/hide-unwanted.ts'
import { placeWindow, seekElement, zoom } from '../steps/preparing/place-window.ts'
import type { Findings, Step, Work } from '../steps/step.ts'
import { domIdle } from '../steps/waiting/dom-idle.ts'

import { settle } from '../steps/waiting/settle.ts'
import { lateImages, stability } from '../steps/waiting/stability.ts'
import { stillPage } from '../steps/waiting/still-page.ts'
import { delay, waitForFunction, waitForSelector } from '../steps/waiting/wait-for.ts'
import type { RecordedVideo, RecorderParts } from '../video/directory.ts'

/** What is masked must not be in titles and notes either, so they are read after it was removed. */
function ifMasked(step: Step): Step {
  return { ...step, isWanted: (plan) => plan.options.maskSelectors !== undefined && (step.isWanted?.(plan) ?? true) }
}

function ifUnmasked(step: Step): Step {
  return { ...step, isWanted: (plan) => plan.options.maskSelectors === undefined && (step.isWanted?.(plan) ?? true) }
}

/** The steps of a capture, in order. */
export const STEPS: readonly Step[] = [
  checkSyntax,
  signIn,
  initScript,
  watchPage,
  holdRequests,
  loadFiles,
  muteMedia,
  listen,
  openMarkup,
  navigate,
  checkResponse,
  noteEarlyRedirect,
  consent,
  hideUnwanted,
  zoom,
  styles,
  ...[scripts, click, clickAll, hover, pressKey].map(withEffects),
  waitForSelector,
  waitForFunction,
  unfold,
  scroll,
  noteSectionLinks,
  sweep,
  placeWindow,
  seekElement,
  settle,
  domIdle,
  delay,
  reveal,
  stability,
  followGrowth,
  renewEffects,
  lateImages,
  conceal,
  hideLatecomers,
  checkContent,
  stillPage,
  measure,
  noteFolded,
  noteWidth,
  noteLateRedirect,
  noteCookies,
  ...[metadata, notePage].map(ifUnmasked),
  files,
  frame,
  mask,
  ignoredElements,
  screenshot,
  record,
  print,
  redact,
  ...[metadata, notePage].map(ifMasked),
  lateFiles,
  preview,
  process,
  thumbnail,
  notePicture,
]

/** How long to wait for the notice of a crash. */
const CRASH_NOTICE_MILLISECONDS = 100

/** Result of a capture before it is stored. */
export interface Captured {
  /** The screenshot, or the first frame of the video. */
  picture: Buffer
  video?: RecordedVideo
  findings: Findings
}

/** Input of `run`. `timings` receives the milliseconds of each step, including the one that failed. */
export interface Run {
  plan: CapturePlan
  tab: Tab
  /** Absent: options that need them fail. */
  lists?: FilterLists | undefined
  /** The HTTP cache shared with the capture's batch; absent: nothing is shared. */
  httpCache?: BatchCache | undefined
  /** What a video needs; absent: the plan has none. */
  recorder?: RecorderParts | undefined
  signal: AbortSignal
  timings: Record<string, number>
  /** See {@link Work}. */
  onPageReady?: () => void
}

/**
 * Runs the steps on a tab, all under one signal.
 * @throws CaptureError; the signal's reason if it was aborted
 */
export async function run({ plan, tab, lists, httpCache, recorder, signal, timings, onPageReady }: Run): Promise<Captured> {
  const findings: Findings = { warnings: [...plan.warnings], files: new Map(), page: {} }
  const failed = new AbortController()
  const work: Work = {
    ...{ tab, plan, findings, lists, httpCache, recorder, onPageReady },
    onLongTask: (session) => endTask(work, session),
    fail: (error) => failed.abort(error),
    signal: AbortSignal.any([signal, tab.ended, failed.signal]),
  }
  try {
    const runner = new StepRunner(work, timings)
    for (const step of STEPS) {
      if (step.isWanted && !step.isWanted(plan)) continue
      await runner.run(step)
    }
  } catch (error) {
    // What the page did not get may be the cause. A failure has no warnings.
    if (error instanceof CaptureError && error.code !== 'URL_NOT_ALLOWED')
      error.message = [error.message, ...describeRefusals(tab.egress.requestLog.refusals)].join('; ')
    throw error
  } finally {
    work.clock?.close()
  }
  failed.signal.throwIfAborted()
  // First, because a record has room for a few warnings only.
  findings.warnings.unshift(...describeRefusals(tab.egress.requestLog.refusals))
  const { picture, video } = findings
  if (!picture) throw new Error('screenshot or record leaves a picture')
  return { picture, ...(video ? { video } : {}), findings }
}

/** Runs the steps of one capture. */
class StepRunner {
  readonly #work: Work
  readonly #timings: Record<string, number>
  /** Steps whose effect belongs to the document, and that document. */
  readonly #applied: Step[] = []
  #document: string | undefined

  constructor(work: Work, timings: Record<string, number>) {
    this.#work = work
    this.#timings = timings
  }

  async run(step: Step): Promise<void> {
    await this.#time(step)
    const { document } = this.#work.tab.lifecycle
    if (document !== this.#document) {
      this.#document = document
      for (const applied of this.#applied) await this.#time(applied)
    }
    if (step.isForDocument) this.#applied.push(step)
  }

  async #time(step: Step): Promise<void> {
    const { signal } = this.#work
    const started = performance.now()
    try {
      await abortable(step.onFailure ? this.#repeat(step, step.onFailure) : step.run(this.#work), signal)
    } catch (error) {
      throw await toStepError(error, step, this.#work)
    } finally {
      this.#timings[step.name] = (this.#timings[step.name] ?? 0) + Math.round(performance.now() - started)
    }
  }

  /** Runs a step again in a document that has replaced the page's meanwhile, once. */
  async #repeat(step: Step, onFailure: NonNullable<Step['onFailure']>): Promise<void> {
    const { lifecycle } = this.#work.tab
    for (let attempt = 1; ; attempt++) {
      const { document } = lifecycle
      try {
        return await step.run(this.#work)
      } catch (error) {
        if (error instanceof CaptureError) throw error
        // If the page is lost, the signal aborts now.
        await pause(CRASH_NOTICE_MILLISECONDS, this.#work.signal)
        const isReplaced = lifecycle.isMoving || lifecycle.document !== document
        if (isReplaced) await follow(this.#work)
        if (isReplaced && attempt === 1) continue
        if (onFailure === 'repeat') throw error
        this.#work.findings.warnings.push(`${step.name} failed${isReplaced ? ': the page replaced its document again' : ' on this page'}`)
        return
      }
    }
  }
}

/** Ends a task of the page that does not end, so that the page responds again. */
function endTask(work: Work, session: DevTools): void {
  const { findings } = work
  work.hasEndedTask = true
  session.send('Runtime.terminateExecution').catch(() => {})
  const warning = `a script of the page did not end within ${TASK_MILLISECONDS / 1_000} seconds and was stopped`
  if (!findings.warnings.includes(warning)) findings.warnings.push(warning)
}

/** When a page is lost, the pending command fails first. The actual reason follows a little later. */
async function toStepError(error: unknown, step: Step, { tab, signal }: Work): Promise<unknown> {
  if (signal.aborted) return signal.reason
  if (error instanceof CaptureError) return error
  await sleep(CRASH_NOTICE_MILLISECONDS)
  return tab.ended.aborted ? tab.ended.reason : toCaptureError(error, step)
}
