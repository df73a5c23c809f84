// What this node lets the runner do, found out by doing it at boot. Nothing is inferred from versions or settings: the jail is made and
// attacked from inside, and Chromium is started with its own sandbox. The result goes to the pool's condition, so it must be true.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { type Jail, type JailConfig, openJail } from './jail.ts'

export type SandboxMode = 'auto' | 'required' | 'off'

/** What to try, and what the attempt must not find. */
export interface ProbeConfig extends JailConfig {
  mode: SandboxMode
  browserPath: string
  /** Files that the browser must not read, the token first. Those that do not exist prove nothing and are left out. */
  secretFiles: readonly string[]
  /** Addresses of the pod that something listens on. */
  listeners: readonly { host: string; port: number }[]
}

/** What the node allows. `detail` says why not, for a person who can change it. */
export interface SandboxFindings {
  jail: boolean
  chromiumSandbox: boolean
  detail: string
}

const PROGRAM_TIMEOUT_MILLISECONDS = 20_000

interface Outcome {
  code: number | null
  output: string
  errors: string
}

/** Where the browser's user is at home; in the jail another, empty directory. */
export const BROWSER_HOME = '/tmp'

/** The environment that a program in the browser's place gets: nothing of the runner's own but where programs and fonts are. */
export const browserEnvironment = (environment: NodeJS.ProcessEnv): Record<string, string> => {
  const wanted = ['PATH', 'LANG', 'LC_ALL', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH']
  const kept = wanted.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]]))
  return { ...Object.fromEntries(kept), HOME: BROWSER_HOME }
}

const run = async (program: string, args: readonly string[], env: Record<string, string>): Promise<Outcome> => {
  const child = spawn(program, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROGRAM_TIMEOUT_MILLISECONDS,
    killSignal: 'SIGKILL',
  })
  const outcome: Outcome = { code: null, output: '', errors: '' }
  child.stdout.on('data', (chunk) => {
    outcome.output += chunk
  })
  child.stderr.on('data', (chunk) => {
    outcome.errors += chunk
  })
  try {
    const [code] = await once(child, 'close')
    return { ...outcome, code }
  } catch (error) {
    return { ...outcome, errors: String(error) }
  }
}

/** Attempts of probe.mjs whose success means that the jail does not hold. */
const BREACHES = ['readFiles', 'environ', 'memory', 'ptrace', 'foreignFds', 'ownFds', 'reached', 'uncovered'] as const

const attackFromInside = async (jail: Jail, config: ProbeConfig): Promise<string[]> => {
  const { executablePath, env } = jail.command(process.execPath)
  const files = config.secretFiles.filter((file) => fs.existsSync(file))
  const attack = JSON.stringify({ pid: process.pid, files, listeners: config.listeners })
  const { code, output, errors } = await run(executablePath, [`${config.programsDirectory}/probe.mjs`, attack], {
    ...browserEnvironment(process.env),
    ...env,
  })
  if (code !== 0) return [`the probe did not run: ${lastLine(errors)}`]
  const found = JSON.parse(output) as Record<(typeof BREACHES)[number], unknown[]>
  return BREACHES.filter((breach) => found[breach].length > 0).map((breach) => `${breach} ${JSON.stringify(found[breach])}`)
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

/** Undefined when Chromium starts and draws with its sandbox on; else what it said. It ends itself where it finds none it can use. */
const startChromium = async (browserPath: string, jail: Jail | undefined): Promise<string | undefined> => {
  const { executablePath, env } = jail?.command(browserPath) ?? { executablePath: browserPath, env: {} }
  const flags = ['--disable-gpu', '--disable-dev-shm-usage', '--dump-dom', 'data:text/html,<p>drawn']
  const { code, output, errors } = await run(executablePath, flags, { ...browserEnvironment(process.env), ...env })
  if (code === 0 && output.includes('drawn')) return undefined
  return firstSentence(errors.split('\n').find((line) => line.includes('sandbox')) ?? lastLine(errors)) || `it ended with ${code}`
}

/** Of a line of Chromium's log, without its origin: the rest is advice for another situation, such as to go without a sandbox. */
const firstSentence = (line: string): string => line.replace(/^\[[^\]]*\] /, '').split(/[.!]( |$)/, 1)[0] ?? ''

const tryJail = async (config: ProbeConfig): Promise<Jail | string> => {
  try {
    const jail = await openJail(config)
    const breaches = await attackFromInside(jail, config)
    if (breaches.length === 0) return jail
    await jail.close()
    return `the jail does not hold: ${breaches.join('; ')}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Finds the best this node allows: jail and sandbox, sandbox only, or none. Never throws for what the node refuses. */
export const probeSandbox = async (config: ProbeConfig): Promise<SandboxFindings> => {
  if (config.mode === 'off') return { jail: false, chromiumSandbox: false, detail: 'switched off' }
  const jail = await tryJail(config)
  const isJailed = typeof jail !== 'string'
  const complaint = await startChromium(config.browserPath, isJailed ? jail : undefined)
  if (isJailed) await jail.close()
  const complaints = [...(isJailed ? [] : [jail]), ...(complaint === undefined ? [] : [`Chromium’s sandbox does not start: ${complaint}`])]
  return {
    jail: isJailed,
    chromiumSandbox: complaint === undefined,
    detail: complaints.length > 0 ? complaints.join('; ') : 'jail and sandbox hold',
  }
}

/** True when the runner may take captures: `required` wants both walls, the other modes take what there is. */
export const isSandboxSufficient = (mode: SandboxMode, { jail, chromiumSandbox }: SandboxFindings): boolean =>
  mode !== 'required' || (jail && chromiumSandbox)
