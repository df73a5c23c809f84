import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { chromium } from 'playwright'
import type { Guard } from '../egress/guard.ts'
import type { Jail } from '../jail/jail.ts'
import { browserEnvironment } from '../jail/probe-sandbox.ts'
import type { Wrapper } from '../jail/wrapper.ts'
import type { ContextPlan } from '../plan/context.ts'
import { argumentsOf, killGroup, listProcesses } from '../runtime/processes.ts'
import { abortable } from '../runtime/race.ts'
import { parentOf } from './devtools.ts'
import { userAgentOf } from './emulation.ts'
import { FrameLock } from './frame-control.ts'
import { openTab, type Tab, type TabParts } from './tab.ts'

/** How to start browsers. */
export interface BrowserSettings {
  /** Path of chromium-headless-shell. */
  executablePath: string
  /** Chromium's own sandbox. Has no default, so that it is never off by accident. */
  chromiumSandbox: boolean
  guard: Guard
  /** Creates the namespaces of one browser; absent: the browser runs in those of the runner. */
  openJail?: () => Promise<Jail>
  /** Starts a browser without a jail. */
  wrapper?: Wrapper
  extraArguments?: readonly string[]
  /** Time limit of a launch; only tests set another one. */
  launchMilliseconds?: number
}

/** A browser process and its children. */
export interface RunningBrowser {
  readonly pid: number
  readonly version: string
  readonly isConnected: () => boolean
  readonly onDisconnected: (listener: () => void) => void
  readonly openTab: (plan: ContextPlan) => Promise<Tab>
  /** Kills the whole process group at once. Later calls do nothing. */
  readonly kill: () => void
}

/** Time limit of a launch. Usually half a second; a busy node needs more. */
const LAUNCH_MILLISECONDS = 30_000
/** Maximum size of a browser's disk cache. */
const CACHE_BYTES = 64 * 1024 * 1024

/**
 * Chromium flags that block network access outside the proxy. They apply with and without the jail. Each flag closes a leak that was observed.
 * Each browser context replaces the proxy set here, which deliberately leads nowhere.
 */
export const EGRESS_FLAGS: readonly string[] = [
  // Nothing listens on port 1, so a request fails when it does not use the proxy of its context.
  '--proxy-server=socks5://127.0.0.1:1',
  // Without this entry, loopback hosts bypass the proxy.
  '--proxy-bypass-list=<-loopback>',
  // Chromium resolves the names of plain http pages itself even when a proxy will resolve them. No name may leave through DNS.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // STUN and TURN bypass any proxy over UDP. Headless shell reads the first spelling, full Chromium the second.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
]

const FLAGS: readonly string[] = [
  ...EGRESS_FLAGS,
  // There is no GPU. Without this flag, Chromium searches for one.
  '--disable-gpu',
  // Without this flag, a screenshot may be taken before its images are decoded.
  '--disable-checker-imaging',
  // The compositor would run animations by itself, and could go on to draw their first frame after the page has brought them to their end.
  '--disable-threaded-animation',
  '--font-render-hinting=none',
  // Without this flag, lines of text move by one pixel at a scale of 2, depending on when a new renderer learns of the scale.
  '--disable-font-subpixel-positioning',
  // Normal browsers send a language. Some sites respond with 403 without one.
  '--accept-lang=en-US,en',
  // Blocks popups in every way that a page can open them.
  '--block-new-web-contents',
  `--disk-cache-size=${CACHE_BYTES}`,
  // Every frame of a page is also drawn into its window, which nobody sees. The page's own size is emulated (ADR 81).
  '--window-size=200,200',
]

/** A flag of Playwright's, with which each screenshot is drawn twice (ADR 81). */
const NEW_SURFACE = '--enable-features=CDPScreenshotNewSurface'

/**
 * Scripts that scroll smoothly scroll at once. Otherwise a picture shows the middle of the scroll, which runs on the time of frames and changes no element.
 * Not for runners that record videos.
 */
const INSTANT_SCROLL_FLAG = '--disable-smooth-scrolling'

/** For tabs whose frames the runner begins. */
const FRAME_FLAGS = [
  // A frame shows everything that its time has brought. Screenshots of other tabs stay as they are.
  '--run-all-compositor-stages-before-draw',
  // For text with colored edges, panels without a background are scrolled in another way, in which a frame on command may never end.
  '--disable-lcd-text',
]

/** Flags of a runner's browsers that depend on what it does. @param hasVideo it records videos */
export const flagsOf = (hasFrameControl: boolean, hasVideo: boolean): string[] => [
  ...(hasFrameControl || hasVideo ? FRAME_FLAGS : []),
  ...(hasVideo ? [] : [INSTANT_SCROLL_FLAG]),
]

/** Starts a browser. @throws when it is not ready in time */
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
    // Playwright would wait for a stopped browser process to end by itself.
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
  const version = browser.version()
  const parts = { control, version, frameLock: new FrameLock(), gone: gone.signal }
  return {
    pid,
    version,
    isConnected: () => browser.isConnected(),
    onDisconnected: (listener) => void browser.once('disconnected', listener),
    openTab: async (plan) => openGuarded({ ...parts, plan, egress: await settings.guard.openSession(jail?.openListener) }),
    kill: () => {
      // Once the process has ended, another process may have its pid.
      if (!gone.signal.aborted) killGroup(pid)
      void jail?.close()
    },
  }
}

/** Starts the process and opens a DevTools session with the browser. @throws when it is not ready in time; its process may still run then */
async function start(settings: BrowserSettings, jail: Jail | undefined, mark: string) {
  const { launchMilliseconds = LAUNCH_MILLISECONDS } = settings
  const command = (jail ?? settings.wrapper)?.command(settings.executablePath) ?? { executablePath: settings.executablePath, env: {} }
  const browser = await chromium.launch({
    executablePath: command.executablePath,
    chromiumSandbox: settings.chromiumSandbox,
    ignoreDefaultArgs: [NEW_SURFACE],
    args: [...FLAGS, await userAgentFlag(settings.executablePath), ...(settings.extraArguments ?? []), mark],
    // The browser gets nothing of the runner's environment.
    env: { ...browserEnvironment(process.env), ...command.env },
    timeout: launchMilliseconds,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
  // Playwright waits for this session without a time limit.
  const control = await abortable(browser.newBrowserCDPSession(), AbortSignal.timeout(launchMilliseconds))
  return { browser, control: parentOf(control) }
}

const versions = new Map<string, Promise<string>>()

/** Sets the user agent of shared and service workers, for which a page's override does not apply. The browser's default says Headless. */
async function userAgentFlag(executablePath: string): Promise<string> {
  let version = versions.get(executablePath)
  version ??= promisify(execFile)(executablePath, ['--version']).then(({ stdout }) => /[\d.]+/.exec(stdout)?.[0] ?? '')
  versions.set(executablePath, version)
  return `--user-agent=${userAgentOf(await version)}`
}

/** Playwright makes each browser the leader of a process group, but does not expose its pid. */
const findByMark = (mark: string): number | undefined =>
  listProcesses().find(({ pid, parent }) => parent === process.pid && argumentsOf(pid).includes(mark))?.pid

async function openGuarded(parts: TabParts): Promise<Tab> {
  try {
    // Commands to a browser that was killed meanwhile never return.
    return await abortable(openTab(parts), parts.gone)
  } catch (error) {
    parts.egress.close()
    throw error
  }
}
