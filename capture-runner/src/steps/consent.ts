import type { AutoConsentCMPRule, RuleBundle } from '@duckduckgo/autoconsent'
import { ConsentFrames, type ConsentMessage } from '../blocking/consent-frames.ts'
import type { ConsentRules } from '../blocking/lists.ts'
import { pause } from '../race.ts'
import { isStill } from './dom-idle.ts'
import { insistOnLists } from './hold-requests.ts'
import { follow } from './navigate.ts'
import type { Step } from './step.ts'

/** Milliseconds that a banner gets to come up, once the page has loaded. */
const COME_MILLISECONDS = 1_500
/** Looks for one that the page must have had, however slow it is: the second goes by what the page says. */
const LOOKS = 2
/** Milliseconds after which they are not waited for any longer: a page without scripts never looks. */
const LOOKS_MILLISECONDS = 6_000
/** Milliseconds in which a known one must open. */
const OPEN_MILLISECONDS = 4_000
/** Milliseconds that answering an open one may take. */
const ANSWER_MILLISECONDS = 10_000
const LOOK_MILLISECONDS = 50
/** Milliseconds without a change after which the page has taken its answer in, and milliseconds that it gets for it. */
const STILL_MILLISECONDS = 400
const REBUILD_MILLISECONDS = 3_000

/** Answers the banner that asks for consent, as a visitor would. What is left of it, or not known, is hidden by the next step. */
export const consent: Step = {
  name: 'consent',
  isWanted: ({ bannerAction }) => bannerAction !== undefined && bannerAction !== 'hide',
  run: async (work) => {
    const { tab, plan, signal } = work
    const progress = new Progress()
    const rules = await insistOnLists(work).consent()
    const frames = new ConsentFrames(tab, {
      script: rules.script,
      config: configFor(plan.bannerAction === 'opt_in' ? 'optIn' : 'optOut'),
      rulesFor: await (plan.bannerAction === 'opt_in' ? toAgree(rules) : toRefuse(rules)),
      onMessage: (message) => progress.note(message),
    })
    await frames.start()
    const started = performance.now()
    while (progress.isWorthWaiting(performance.now() - started)) {
      await frames.attendForeignFrames()
      await pause(LOOK_MILLISECONDS, signal)
    }
    await follow(work)
    // A page often builds itself anew once it may: what is shown in the middle of that is nothing that anyone would see.
    if (progress.hasAnswered) await isStill(work, STILL_MILLISECONDS, REBUILD_MILLISECONDS)
  },
}

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

/** How far the banners of a page's frames are. */
export class Progress {
  /** State of each frame's program, by its id. */
  readonly #states = new Map<string, string>()
  #looks = 0
  #isDone = false
  #hasAnswered = false

  /** True when a banner was told what the visitor wants. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  note({ type, result, instanceId = '', mainFrame, state }: ConsentMessage): void {
    if (type === 'autoconsentDone') this.#isDone = true
    if (type === 'optOutResult' || type === 'optInResult') {
      if (result) this.#hasAnswered = true
      else this.#isDone = true
    }
    if (type !== 'report' || !state) return
    this.#states.set(instanceId, state.lifecycle)
    if (mainFrame) this.#looks = state.lifecycle === 'nothingDetected' ? LOOKS : state.findCmpAttempts
  }

  /** @param milliseconds since the programs began */
  isWorthWaiting(milliseconds: number): boolean {
    const states = [...this.#states.values()]
    if (this.#isDone) return false
    if (states.some((state) => ANSWERING.has(state))) return milliseconds < ANSWER_MILLISECONDS
    if (states.includes('cmpDetected')) return milliseconds < OPEN_MILLISECONDS
    return milliseconds < COME_MILLISECONDS || (this.#looks < LOOKS && milliseconds < LOOKS_MILLISECONDS)
  }
}

const ANSWERING = new Set(['openPopupDetected', 'runningOptOut', 'runningOptIn'])

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
  heuristicMode: 'tier2',
  logs: { lifecycle: false, rulesteps: false, detectionsteps: false, evals: false, errors: false, messages: false, waits: false },
})
