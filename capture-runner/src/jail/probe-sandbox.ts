// Tests at start which isolation this node allows. It infers nothing from versions or settings. It creates the jail, attacks it from inside, and starts
// Chromium with its own sandbox. Without a jail, it tests whether Landlock hides the tokens. The pool's condition shows the result, so it must be true.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { MAX_DETAIL_LENGTH } from '@tintype/crds/dispatch/dispatch'
import { type Jail, type JailConfig, openJail } from './jail.ts'
import { landlockWrapper, type Secrets, type Wrapper } from './wrapper.ts'

export type SandboxMode = 'auto' | 'required' | 'off'

/** What to test, and what the attack must not reach. */
export interface ProbeConfig extends JailConfig, Secrets {
  mode: SandboxMode
  browserPath: string
  /** Listening addresses in the pod. */
  listeners: readonly { host: string; port: number }[]
}

/** What the node allows. `detail` tells an administrator why something does not work. */
export interface SandboxFindings {
  jail: boolean
  chromiumSandbox: boolean
  /** The browser cannot read the pod's tokens, by the jail or by Landlock. */
  hidesTokens: boolean
  detail: string
}

const PROGRAM_TIMEOUT_MILLISECONDS = 20_000

interface Outcome {
  code: number | null
  output: string
  errors: string
}

/** Home directory of the browser's user. In the jail this is a separate, empty directory. */
export const BROWSER_HOME = '/tmp'

/** The environment of a program in the browser's place: only paths of programs and fonts. */
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

/** Attacks of probe.mjs whose success means that the jail is not effective. */
const BREACHES = ['readFiles', 'environ', 'memory', 'ptrace', 'foreignFds', 'ownFds', 'reached', 'uncovered'] as const

const attackFromInside = async (wrapper: Wrapper, config: ProbeConfig): Promise<string[]> => {
  const { executablePath, env } = wrapper.command(process.execPath)
  // Missing files prove nothing.
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

/** Undefined if Chromium starts and draws with its sandbox, else its error. Chromium exits if it has no usable sandbox. */
const startChromium = async (browserPath: string, wrapper: Wrapper | undefined): Promise<string | undefined> => {
  const { executablePath, env } = wrapper?.command(browserPath) ?? { executablePath: browserPath, env: {} }
  const flags = ['--disable-gpu', '--disable-dev-shm-usage', '--dump-dom', 'data:text/html,<p>drawn']
  const { code, output, errors } = await run(executablePath, flags, { ...browserEnvironment(process.env), ...env })
  if (code === 0 && output.includes('drawn')) return undefined
  return firstSentence(errors.split('\n').find((line) => line.includes('sandbox')) ?? lastLine(errors)) || `it ended with ${code}`
}

/** The first sentence of a line in Chromium's log. The rest is unsuitable advice, such as to disable the sandbox. */
const firstSentence = (line: string): string => line.replace(/^\[[^\]]*\] /, '').split(/[.!]( |$)/, 1)[0] ?? ''

const tryJail = async (config: ProbeConfig): Promise<Jail | string> => {
  try {
    const jail = await openJail(config)
    const breaches = await attackFromInside(jail, config)
    if (breaches.length === 0) return jail
    await jail.close()
    return `the jail is not effective: ${breaches.join('; ')}`
  } catch (error) {
    return (error as Error).message
  }
}

const tryLandlock = async (config: ProbeConfig): Promise<Wrapper | string> => {
  const wrapper = landlockWrapper(config)
  // Landlock does not separate the network.
  const breaches = await attackFromInside(wrapper, { ...config, listeners: [] })
  return breaches.length === 0 ? wrapper : breaches.join('; ')
}

/** What the operator learns. On a busy machine, each attack from inside can fail with a long error. */
export const describeProblems = (problems: readonly string[]): string =>
  problems.length > 0 ? problems.join('; ').slice(0, MAX_DETAIL_LENGTH) : 'jail and sandbox work'

/** Finds the best isolation that this node allows: jail and sandbox, sandbox only, or none. Never throws if the node refuses. */
export const probeSandbox = async (config: ProbeConfig): Promise<SandboxFindings> => {
  const isOff = config.mode === 'off'
  const jail = isOff ? 'switched off' : await tryJail(config)
  const isJailed = typeof jail !== 'string'
  const wrapper = isJailed ? jail : await tryLandlock(config)
  const hidesTokens = typeof wrapper !== 'string'
  const problem = isOff ? undefined : await startChromium(config.browserPath, hidesTokens ? wrapper : undefined)
  if (isJailed) await jail.close()
  const problems = [
    ...(isJailed ? [] : [jail]),
    ...(problem === undefined ? [] : [`Chromium’s sandbox does not start: ${problem}`]),
    ...(hidesTokens ? [] : [`the browser can read the tokens of the pod: ${wrapper}`]),
  ]
  return {
    jail: isJailed,
    chromiumSandbox: !isOff && problem === undefined,
    hidesTokens,
    detail: describeProblems(problems),
  }
}

/** True if the runner may capture. Mode `required` needs jail and sandbox; the other modes accept what is available. */
export const isSandboxSufficient = (
  mode: SandboxMode,
  { jail, chromiumSandbox }: Pick<SandboxFindings, 'jail' | 'chromiumSandbox'>,
): boolean => mode !== 'required' || (jail && chromiumSandbox)
