import type { AutoConsentCMPRule, RuleBundle } from '@duckduckgo/autoconsent'
import { ConsentFrames, type ConsentMessage } from '../../blocking/consent-frames.ts'
import type { ConsentRules } from '../../blocking/lists.ts'
import { callInPage } from '../../page/call.ts'
import { assertLists } from '../navigation/hold-requests.ts'
import { follow } from '../navigation/navigate.ts'
import { inDocument, type Step, type Work } from '../step.ts'
import { isStill } from '../waiting/dom-idle.ts'
import { type StepTime, timeOf } from '../waiting/page-time.ts'
import { includeClosedRoots } from '../whole-page.ts'

// Handles consent banners on the page's virtual clock (ADR 34), which runs faster than real time. Most of the time would pass in timers: of
// banners that appear late, and of autoconsent, which checks twice a second. Out-of-process frames run in real time.

/** How long to wait for a banner after the page has loaded. */
const COME_MILLISECONDS = 1_500
/** Number of autoconsent checks to wait for, even in a slow page. The second one examines the page's text. */
const LOOKS = 2
/** Duration of one check. */
const LOOK_MILLISECONDS = 250
/** Time limit for these checks, because a page without scripts never finishes them. */
const LOOKS_MILLISECONDS = 6_000
/** Time limit for a detected banner to open. */
const OPEN_MILLISECONDS = 4_000
/** Time limit for responding to an open banner. */
const ANSWER_MILLISECONDS = 10_000
/** Time in which autoconsent has checked an out-of-process frame twice. */
const FOREIGN_MILLISECONDS = 800
/** Milliseconds without a change after which the page has processed the choice, and the time limit for that. */
const STILL_MILLISECONDS = 400
const REBUILD_MILLISECONDS = 3_000
/** Slices of page time: before a banner is detected, and while autoconsent responds to it. */
const SLICE_MILLISECONDS = 250
const ANSWERING_SLICE_MILLISECONDS = 100

/** Accepts or rejects the consent banner as a visitor would. The next step hides unknown banners and remains. */
export const consent: Step = {
  name: 'consent',
  onFailure: 'warn',
  isWanted: ({ bannerAction }) => bannerAction !== undefined && bannerAction !== 'hide',
  run: async (work) => {
    const isOptIn = work.plan.bannerAction === 'opt_in'
    const progress = new Progress()
    const rules = await assertLists(work).consent()
    const frames = new ConsentFrames(work.tab, {
      script: rules.script,
      config: configFor(isOptIn ? 'optIn' : 'optOut'),
      rulesFor: await (isOptIn ? rulesToOptIn(rules) : rulesToOptOut(rules)),
      onMessage: (message, isForeign) => progress.note(message, isForeign),
    })
    await frames.start()
    const time = await timeOf(work)
    const isHandled = await handleBanner(work, { frames, progress, time, isOptIn })
    time.run()
    await follow(work)
    // Pages often rebuild themselves after the choice. Wait, so that the screenshot does not show an intermediate state.
    if (isHandled) await isStill(work, STILL_MILLISECONDS, REBUILD_MILLISECONDS, time)
    time.run()
  },
}

/** Inputs for handling the banner. */
interface BannerHandling {
  frames: ConsentFrames
  progress: Progress
  time: StepTime
  isOptIn: boolean
}

/** Waits for a banner and until it is handled. Returns true if there was one. */
async function handleBanner(work: Work, { frames, progress, time, isOptIn }: BannerHandling): Promise<boolean> {
  const { lifecycle } = work.tab
  const handleUnknown = () =>
    inDocument(work, false, async () => {
      await includeClosedRoots(work)
      return callInPage(work, 'clickBannerButton', isOptIn)
    })
  let { document } = lifecycle
  let guessedAt = 0
  for (;;) {
    await frames.startForeignFrames()
    await frames.settled()
    const hasYoungFrames = performance.now() - frames.lastForeign < FOREIGN_MILLISECONDS
    if (!progress.isWorthWaiting(time, hasYoungFrames)) break
    const { hasLooked } = progress
    const isWaitingForOthers = frames.hasForeign && (progress.isBusy || time.page >= COME_MILLISECONDS)
    if (isWaitingForOthers) await time.keepUp()
    else await time.pass(progress.isBusy ? ANSWERING_SLICE_MILLISECONDS : SLICE_MILLISECONDS)
    if (lifecycle.isMoving || lifecycle.document !== document) {
      time.run()
      await follow(work)
      document = lifecycle.document
      progress.leave()
    } else if (hasLooked && !progress.isBusy) {
      // No rule matches. Autoconsent's own heuristics run later and would also come to this result.
      const elements = await countElements(work)
      if (elements !== guessedAt && (await handleUnknown())) return true
      guessedAt = elements
    }
  }
  return progress.hasAnswered || (!progress.isBusy && (await handleUnknown()))
}

const countElements = (work: Work): Promise<number> => inDocument(work, 0, () => callInPage(work, 'countElements'))

type RulesFor = (url: string, mainFrame: boolean) => RuleBundle

async function rulesToOptOut({ rules }: ConsentRules): Promise<RulesFor> {
  const { filterCompactRules } = await import('@duckduckgo/autoconsent')
  return (url, mainFrame) => ({ autoconsent: [], compact: filterCompactRules(rules, { url, mainFrame }) })
}

async function rulesToOptIn({ wholeRules }: ConsentRules): Promise<RulesFor> {
  const rules = await wholeRules()
  return (url) => ({ autoconsent: rules.filter((rule) => isFor(rule, url)) })
}

/** Most rules are for one site. The page itself checks which frames a rule applies to. */
const isFor = ({ runContext }: AutoConsentCMPRule, url: string): boolean =>
  runContext?.urlPattern === undefined || new RegExp(runContext.urlPattern).test(url)

/** Milliseconds since autoconsent started, in page time and real time. */
interface Elapsed {
  page: number
  real: number
}

/** State of the banners in a page's frames. */
export class Progress {
  /** State of autoconsent in each frame, by its instance id. */
  readonly #states = new Map<string, { lifecycle: string; isForeign: boolean }>()
  #looks = 0
  /** Page time when the last required check had begun. */
  #lookedAt: number | undefined
  #isDone = false
  #hasAnswered = false

  /** True if autoconsent has submitted the visitor's choice. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  /** True if autoconsent has checked the page. */
  get hasLooked(): boolean {
    return this.#looks > 0
  }

  /** True while a detected banner has not been handled. */
  get isBusy(): boolean {
    return this.#states.values().some(({ lifecycle }) => KNOWN.has(lifecycle))
  }

  note({ type, result, instanceId = '', mainFrame, state }: ConsentMessage, isForeign = false): void {
    if (type === 'autoconsentDone') this.#isDone = true
    if (type === 'optOutResult' || type === 'optInResult') {
      if (result) this.#hasAnswered = true
      else this.#isDone = true
    }
    if (type !== 'report' || !state) return
    this.#states.set(instanceId, { lifecycle: state.lifecycle, isForeign })
    if (mainFrame) this.#looks = state.lifecycle === 'nothingDetected' ? LOOKS : state.findCmpAttempts
  }

  /** The page navigated to another document, perhaps because of the choice. The old document's autoconsent instances are gone. */
  leave(): void {
    if (this.isBusy) this.#hasAnswered = true
    this.#states.clear()
  }

  /** @param hasYoungFrames out-of-process frames exist that autoconsent has not checked yet */
  isWorthWaiting({ page, real }: Elapsed, hasYoungFrames = false): boolean {
    if (this.#isDone) return false
    const isWithin = (states: ReadonlySet<string>, milliseconds: number) =>
      this.#states.values().some(({ lifecycle, isForeign }) => states.has(lifecycle) && (isForeign ? real : page) < milliseconds)
    if (this.isBusy) return isWithin(ANSWERING, ANSWER_MILLISECONDS) || isWithin(DETECTED, OPEN_MILLISECONDS)
    if (page < COME_MILLISECONDS && real < 2 * COME_MILLISECONDS) return true
    if (this.#looks < LOOKS) return page < LOOKS_MILLISECONDS && real < LOOKS_MILLISECONDS
    this.#lookedAt ??= page
    return page < this.#lookedAt + LOOK_MILLISECONDS || (hasYoungFrames && real < COME_MILLISECONDS)
  }
}

const DETECTED = new Set(['cmpDetected'])
const ANSWERING = new Set(['openPopupDetected', 'runningOptOut', 'runningOptIn'])
const KNOWN = ANSWERING.union(DETECTED)

const configFor = (autoAction: 'optIn' | 'optOut') => ({
  enabled: true,
  autoAction,
  disabledCmps: [],
  enablePrehide: true,
  enableCosmeticRules: true,
  enableGeneratedRules: true,
  detectRetries: 4,
  isMainWorld: false,
  prehideTimeout: 4000,
  enableHeuristicDetection: true,
  // The heuristics can only reject.
  heuristicMode: autoAction === 'optIn' ? 'off' : 'tier2',
  logs: { lifecycle: false, rulesteps: false, detectionsteps: false, evals: false, errors: false, messages: false, waits: false },
})
