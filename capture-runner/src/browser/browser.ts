import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { EGRESS_FLAGS } from '../egress/flags.ts'
import type { Guard } from '../egress/guard.ts'
import type { Jail } from '../jail/jail.ts'
import { browserEnvironment } from '../jail/probe-sandbox.ts'
import { type ContextPlan, DEFAULT_CONTEXT, isAdaptable } from '../plan/plan.ts'
import { argumentsOf, killGroup, listProcesses } from '../runtime/processes.ts'
import { raced } from '../runtime/race.ts'
import { type ParentSession, parentOf } from './devtools.ts'
import { openPlainTab } from './plain-tab.ts'
import { openPlaywrightTab } from './playwright-tab.ts'
import type { Tab } from './tab.ts'
import { userAgentOf } from './user-agent.ts'

/** Where and how browsers are started. */
export interface BrowserSettings {
  /** Path of chromium-headless-shell. */
  executablePath: string
  /** Chromium's own sandbox. Never off by accident: the caller has to say so. */
  chromiumSandbox: boolean
  guard: Guard
  /** Makes the namespaces of one browser; absent: it runs in the runner's. */
  openJail?: () => Promise<Jail>
  extraArguments?: readonly string[]
  /** Milliseconds in which a browser must be up, where a test wants another number. */
  launchMilliseconds?: number
}

/** One browser process with all below it. */
export interface RunningBrowser {
  readonly pid: number
  readonly version: string
  readonly isConnected: () => boolean
  readonly onGone: (listener: () => void) => void
  readonly openTab: (plan: ContextPlan) => Promise<Tab>
  /** Ends the whole process group at once. May be called again. */
  readonly kill: () => void
}

/** Milliseconds in which a browser must be up: half a second is usual, a busy node needs more. */
const LAUNCH_MILLISECONDS = 30_000
/** Bytes of disk for one browser's cache. */
const CACHE_BYTES = 64 * 1024 * 1024

const FLAGS: readonly string[] = [
  ...EGRESS_FLAGS,
  // There is no GPU; without the flag one is looked for.
  '--disable-gpu',
  // Otherwise a picture may be taken before its images are decoded.
  '--disable-checker-imaging',
  '--font-render-hinting=none',
  // Otherwise lines of text stand one pixel higher or lower at a scale of 2, by whether a new renderer learns of the scale before its first layout.
  '--disable-font-subpixel-positioning',
  // Every browser of a person names its language; some sites answer 403 to one that does not.
  '--accept-lang=en-US,en',
  // No page opens windows: every way to one ends here.
  '--block-new-web-contents',
  `--disk-cache-size=${CACHE_BYTES}`,
]

/** Starts a browser. @throws when it is not up in time */
export async function launchBrowser(settings: BrowserSettings): Promise<RunningBrowser> {
  const jail = await settings.openJail?.()
  try {
    return await launch(settings, jail)
  } catch (error) {
    await jail?.close()
    throw error
  }
}

async function launch(settings: BrowserSettings, jail: Jail | undefined): Promise<RunningBrowser> {
  const mark = `--tintype-browser=${randomUUID()}`
  const started = start(settings, jail, mark)
  const { browser, control } = await started.catch((error: unknown) => {
    // Playwright waits for a browser that has stopped to end by itself.
    const stopped = findByMark(mark)
    if (stopped !== undefined) killGroup(stopped)
    throw error
  })
  const pid = findByMark(mark)
  if (pid === undefined) {
    await browser.close()
    throw new Error('the browser that was started is not among the children of this process')
  }
  const gone = new AbortController()
  browser.once('disconnected', () => {
    gone.abort(new Error('the browser is gone'))
    void jail?.close()
  })
  const wayOut = { browser, control, guard: settings.guard, openListener: jail?.openListener, gone: gone.signal }
  return {
    pid,
    version: browser.version(),
    isConnected: () => browser.isConnected(),
    onGone: (listener) => void browser.once('disconnected', listener),
    openTab: (plan) => makeTab(wayOut, plan),
    kill: () => {
      // The pid is not ours any more once the process is gone.
      if (!gone.signal.aborted) killGroup(pid)
      void jail?.close()
    },
  }
}

/** Starts the process and opens the session with the browser itself. @throws when the browser does not respond in time; its process may be left */
async function start(settings: BrowserSettings, jail: Jail | undefined, mark: string) {
  const { launchMilliseconds = LAUNCH_MILLISECONDS } = settings
  const command = jail?.command(settings.executablePath) ?? { executablePath: settings.executablePath, env: {} }
  const browser = await chromium.launch({
    executablePath: command.executablePath,
    chromiumSandbox: settings.chromiumSandbox,
    args: [...FLAGS, await userAgentFlag(settings.executablePath), ...(settings.extraArguments ?? []), mark],
    // Nothing of the runner's environment is the browser's business.
    env: { ...browserEnvironment(process.env), ...command.env },
    timeout: launchMilliseconds,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
  // Playwright waits for this session without a limit.
  const control = await raced(browser.newBrowserCDPSession(), AbortSignal.timeout(launchMilliseconds))
  return { browser, control: parentOf(control) }
}

const versions = new Map<string, Promise<string>>()

/** Shared and service workers have no page whose user agent they could be given: they have the browser's, which would say Headless. */
async function userAgentFlag(executablePath: string): Promise<string> {
  let version = versions.get(executablePath)
  version ??= promisify(execFile)(executablePath, ['--version']).then(({ stdout }) => /[\d.]+/.exec(stdout)?.[0] ?? '')
  versions.set(executablePath, version)
  return `--user-agent=${userAgentOf(await version)}`
}

/** Playwright makes each browser the leader of a process group and tells no one its pid. */
const findByMark = (mark: string): number | undefined =>
  listProcesses().find(({ pid, parent }) => parent === process.pid && argumentsOf(pid).includes(mark))?.pid

async function makeTab({ browser, control, guard, openListener, gone }: WayOut, plan: ContextPlan): Promise<Tab> {
  const exit = await guard.openSession(openListener)
  const parts = { browser, exit, plan }
  try {
    // Playwright never answers when the browser is killed in the middle of it.
    return await raced(control && isAdaptable(plan) ? openPlainTab(control, parts, gone) : openPlaywrightTab(parts), gone)
  } catch (error) {
    exit.close()
    throw error
  }
}

interface WayOut {
  browser: Browser
  /** A session with the browser that tabs can be made by; absent: Playwright makes them all. */
  control: ParentSession | undefined
  guard: Guard
  openListener: Jail['openListener'] | undefined
  gone: AbortSignal
}

/** Opens a tab as the pool's default options want it. */
export const openDefaultTab = (browser: RunningBrowser): Promise<Tab> => browser.openTab(DEFAULT_CONTEXT)
