import type { AutoConsentCMPRule, RuleBundle } from '@duckduckgo/autoconsent'
import { callWithClosedRoots } from '../../blocking/closed-roots.ts'
import { ConsentFrames, type ConsentMessage } from '../../blocking/consent-frames.ts'
import { answerBanner } from '../../blocking/guess-banners.ts'
import type { ConsentRules } from '../../blocking/lists.ts'
import { inDocument } from '../in-document.ts'
import { assertLists } from '../navigation/hold-requests.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { isStill } from '../waiting/dom-idle.ts'
import { PageTime } from '../waiting/page-time.ts'

// Consent takes place on the page's own clock (ADR 34), which runs ahead of real time. Most of the time would be spent on timers: of the banner, which
// comes after a while, and of autoconsent, which looks twice a second. Frames of other processes are on real time.

/** Milliseconds that a banner gets to come up, once the page has loaded. */
const COME_MILLISECONDS = 1_500
/** Looks for one that the page must have had, however slow it is: the second goes by what the page says. */
const LOOKS = 2
/** Milliseconds that a look may take. */
const LOOK_MILLISECONDS = 250
/** Milliseconds after which they are not waited for any longer: a page without scripts never looks. */
const LOOKS_MILLISECONDS = 6_000
/** Milliseconds in which a known one must open. */
const OPEN_MILLISECONDS = 4_000
/** Milliseconds that answering an open one may take. */
const ANSWER_MILLISECONDS = 10_000
/** Milliseconds in which the program of another process's frame has looked twice. */
const FOREIGN_MILLISECONDS = 800
/** Milliseconds without a change after which the page has taken its answer in, and milliseconds that it gets for it. */
const STILL_MILLISECONDS = 400
const REBUILD_MILLISECONDS = 3_000
/** Milliseconds of the page that pass at once: while nothing is known, and while a banner is answered. */
const SLICE_MILLISECONDS = 250
const ANSWERING_SLICE_MILLISECONDS = 100

/** Answers the banner that asks for consent, as a visitor would. What is left of it, or not known, is hidden by the next step. */
export const consent: Step = {
  name: 'consent',
  isWanted: ({ bannerAction }) => bannerAction !== undefined && bannerAction !== 'hide',
  run: async (work) => {
    const isAgreeing = work.plan.bannerAction === 'opt_in'
    const progress = new Progress()
    const rules = await assertLists(work).consent()
    const frames = new ConsentFrames(work.tab, {
      script: rules.script,
      config: configFor(isAgreeing ? 'optIn' : 'optOut'),
      rulesFor: await (isAgreeing ? toAgree(rules) : toRefuse(rules)),
      onMessage: (message, isForeign) => progress.note(message, isForeign),
    })
    await frames.start()
    const time = new PageTime(work)
    const isAnswered = await answer(work, { frames, progress, time, isAgreeing })
    time.run()
    await follow(work)
    // A page often builds itself anew once it may: what is shown in the middle of that is nothing that anyone would see.
    if (isAnswered) await isStill(work, STILL_MILLISECONDS, REBUILD_MILLISECONDS, time)
    time.run()
  },
}

/** What answering takes. */
interface Parts {
  frames: ConsentFrames
  progress: Progress
  time: PageTime
  isAgreeing: boolean
}

/** Waits for a banner, and until it is answered. True: one was. */
async function answer(work: Work, { frames, progress, time, isAgreeing }: Parts): Promise<boolean> {
  const { lifecycle } = work.tab
  const answerUnknown = () => inDocument(work, false, () => callWithClosedRoots<boolean>(work.tab, answerBanner, isAgreeing, work.signal))
  let { document } = lifecycle
  let guessedAt = 0
  for (;;) {
    await frames.attendForeignFrames()
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
      // No rule knows it. Autoconsent's own guesses come later, and agree where they see nothing else.
      const elements = await countElements(work)
      if (elements !== guessedAt && (await answerUnknown())) return true
      guessedAt = elements
    }
  }
  return progress.hasAnswered || (!progress.isBusy && (await answerUnknown()))
}

const countElements = (work: Work): Promise<number> =>
  inDocument(work, 0, () => work.tab.look<number>("document.getElementsByTagName('*').length", work.signal))

type RulesFor = (url: string, mainFrame: boolean) => RuleBundle

async function toRefuse({ rules }: ConsentRules): Promise<RulesFor> {
  const { filterCompactRules } = await import('@duckduckgo/autoconsent')
  return (url, mainFrame) => ({ autoconsent: [], compact: filterCompactRules(rules, { url, mainFrame }) })
}

async function toAgree({ wholeRules }: ConsentRules): Promise<RulesFor> {
  const rules = await wholeRules()
  return (url) => ({ autoconsent: rules.filter((rule) => isFor(rule, url)) })
}

/** Most rules are one site's. Which frames a rule is for is judged in the page. */
const isFor = ({ runContext }: AutoConsentCMPRule, url: string): boolean =>
  runContext?.urlPattern === undefined || new RegExp(runContext.urlPattern).test(url)

/** Milliseconds since the programs began, for the page and for the runner. */
interface Elapsed {
  page: number
  real: number
}

/** How far the banners of a page's frames are. */
export class Progress {
  /** State of each frame's program, by its id. */
  readonly #states = new Map<string, { lifecycle: string; isForeign: boolean }>()
  #looks = 0
  /** Milliseconds of the page at which the last look that counts had begun. */
  #lookedAt: number | undefined
  #isDone = false
  #hasAnswered = false

  /** True when a banner was told what the visitor wants. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  /** True when the page has been looked at. */
  get hasLooked(): boolean {
    return this.#looks > 0
  }

  /** True while a banner is known that is not answered yet. */
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

  /** The page has gone to another document, as an answer may have it do: the programs of the last one are no more. */
  leave(): void {
    if (this.isBusy) this.#hasAnswered = true
    this.#states.clear()
  }

  /** @param hasYoungFrames frames of other processes that had no time to look yet */
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
  // Its guesses cannot agree.
  heuristicMode: autoAction === 'optIn' ? 'off' : 'tier2',
  logs: { lifecycle: false, rulesteps: false, detectionsteps: false, evals: false, errors: false, messages: false, waits: false },
})
