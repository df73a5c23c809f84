import { setTimeout as sleep } from 'node:timers/promises'
import type { FilterLists } from './blocking/lists.ts'
import { CaptureError, toCaptureError } from './errors.ts'
import type { BatchCache } from './http-cache/http-cache.ts'
import type { CapturePlan } from './plan.ts'
import { raced } from './race.ts'
import { checkAnswer } from './steps/check-answer.ts'
import { checkContent } from './steps/check-content.ts'
import { checkSyntax } from './steps/check-syntax.ts'
import { click, clickAll, hover, pressKey } from './steps/click.ts'
import { consent } from './steps/consent.ts'
import { delay } from './steps/delay.ts'
import { domIdle } from './steps/dom-idle.ts'
import { files } from './steps/files.ts'
import { frame } from './steps/frame.ts'
import { hideLatecomers, hideUnwanted } from './steps/hide-unwanted.ts'
import { holdRequests } from './steps/hold-requests.ts'
import { initScript } from './steps/init-script.ts'
import { listen } from './steps/listen.ts'
import { loadFiles } from './steps/load-files.ts'
import { mask } from './steps/mask.ts'
import { measure } from './steps/measure.ts'
import { metadata } from './steps/metadata.ts'
import { navigate } from './steps/navigate.ts'
import { notePanel } from './steps/note-panel.ts'
import { notePage, notePicture } from './steps/notes.ts'
import { openMarkup } from './steps/open-markup.ts'
import { placeWindow } from './steps/place-window.ts'
import { print } from './steps/print.ts'
import { process, thumbnail } from './steps/process.ts'
import { conceal, reveal } from './steps/reveal.ts'
import { screenshot } from './steps/screenshot.ts'
import { scripts } from './steps/scripts.ts'
import { scroll } from './steps/scroll.ts'
import { noteSectionLinks } from './steps/section-links.ts'
import { seekElement } from './steps/seek-element.ts'
import { settle } from './steps/settle.ts'
import { signIn } from './steps/sign-in.ts'
import { stability } from './steps/stability.ts'
import type { Findings, Step, Work } from './steps/step.ts'
import { stillPage } from './steps/still-page.ts'
import { styles } from './steps/styles.ts'
import { sweep } from './steps/sweep.ts'
import { unfold } from './steps/unfold.ts'
import { waitForFunction } from './steps/wait-for-function.ts'
import { waitForSelector } from './steps/wait-for-selector.ts'
import { watchPage } from './steps/watch-page.ts'
import { zoom } from './steps/zoom.ts'
import type { Tab } from './tab.ts'

/** The steps of a capture, in order. */
export const STEPS: readonly Step[] = [
  checkSyntax,
  signIn,
  initScript,
  watchPage,
  holdRequests,
  loadFiles,
  listen,
  openMarkup,
  navigate,
  checkAnswer,
  consent,
  hideUnwanted,
  zoom,
  styles,
  scripts,
  click,
  clickAll,
  hover,
  pressKey,
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
  conceal,
  hideLatecomers,
  checkContent,
  stillPage,
  measure,
  notePanel,
  metadata,
  notePage,
  files,
  frame,
  mask,
  screenshot,
  print,
  process,
  thumbnail,
  notePicture,
]

/** Milliseconds that the news of a crash may take. */
const LAST_WORDS_MILLISECONDS = 100

/** What a capture gave, before it is stored. */
export interface Captured {
  picture: Buffer
  findings: Findings
}

/** What `run` needs; `timings` gets the milliseconds of each step, also of the one that failed. */
export interface Run {
  plan: CapturePlan
  tab: Tab
  /** Absent: what would need them fails. */
  lists?: FilterLists | undefined
  /** What the capture may share with its batch; absent: nothing. */
  httpCache?: BatchCache | undefined
  signal: AbortSignal
  timings: Record<string, number>
  /** See {@link Work}. */
  onShutter?: () => void
}

/**
 * Runs the steps on a tab, all under one signal.
 * @throws CaptureError; the signal's reason as it is, when that ended it
 */
export async function run({ plan, tab, lists, httpCache, signal, timings, onShutter }: Run): Promise<Captured> {
  const findings: Findings = { warnings: [...plan.warnings], files: new Map(), page: {} }
  const work: Work = { tab, plan, findings, lists, httpCache, onShutter, signal: AbortSignal.any([signal, tab.ended]) }
  try {
    for (const step of STEPS) {
      if (step.isWanted && !step.isWanted(plan)) continue
      await runStep(step, work, timings)
    }
  } finally {
    // Not waited for: a page that hangs does not answer.
    work.clock?.hold().catch(() => {})
  }
  if (!findings.picture) throw new Error('screenshot leaves a picture')
  return { picture: findings.picture, findings }
}

async function runStep(step: Step, work: Work, timings: Record<string, number>): Promise<void> {
  const started = performance.now()
  try {
    await raced(step.run(work), work.signal)
  } catch (error) {
    throw await toStepError(error, step, work)
  } finally {
    timings[step.name] = Math.round(performance.now() - started)
  }
}

/** A lost page first shows as a command that fails, and a little later as what it is. */
async function toStepError(error: unknown, step: Step, { tab, signal }: Work): Promise<unknown> {
  if (signal.aborted) return signal.reason
  if (error instanceof CaptureError) return error
  await sleep(LAST_WORDS_MILLISECONDS)
  return tab.ended.aborted ? tab.ended.reason : toCaptureError(error, step)
}
