import { DISPATCH_DIRECTORY, execScript, KUBERNETES_DIRECTORY } from './runner-exec.ts'

// Runs the runner's own boot probe (capture-runner/jail/probe.mjs) in a running pod: once inside the jail of a running browser, and once
// outside it as the control.

/** What the probe could access. Empty lists: nothing. */
export interface Probed {
  readFiles: string[]
  environ: number[]
  memory: number[]
  ptrace: number[]
  signals: number[]
  foreignFds: number[]
  ownFds: unknown[]
  reached: unknown[]
  uncovered: string[]
}

export interface Both {
  /** Process id of the runner in its pod. */
  runner: number
  /** Jails of the current and the standby browser. */
  jails: number
  /** Process ids inside the jail. */
  jailed: number[]
  inside: Probed
  outside: Probed
}

/** Files that a page must not read. */
export const TOKENS = [`${KUBERNETES_DIRECTORY}/token`, `${DISPATCH_DIRECTORY}/token`]

const PROBE = `
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
const look = (read) => {
  try {
    return read()
  } catch {
    return undefined
  }
}
const wordsOf = (pid) => look(() => readFileSync('/proc/' + pid + '/cmdline', 'latin1').split('\\0')) ?? []
const pids = () => readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map(Number)
const runner = pids().find((pid) => wordsOf(pid)[0] === 'node' && wordsOf(pid).includes('/app/main.mjs'))
const holders = pids().filter((pid) => wordsOf(pid)[0]?.endsWith('unshare') && wordsOf(pid).includes('/app/jail/hold.sh'))
const namespaceOf = (pid, name) => look(() => readlinkSync('/proc/' + pid + '/ns/' + name))
const jail = namespaceOf(holders[0], 'pid_for_children')
/** Process ids of the jail's processes inside its namespace. */
const jailed = () => pids().filter((pid) => namespaceOf(pid, 'pid') === jail)
  .map((pid) => Number(/^NSpid:.*?(\\d+)$/m.exec(look(() => readFileSync('/proc/' + pid + '/status', 'latin1')))?.[1]))
const attack = JSON.stringify({ pid: runner, files: input.files, listeners: input.listeners })
const probe = (program, env) => {
  const { stdout, stderr, status } = spawnSync(program, ['/app/jail/probe.mjs', attack], { env: { ...process.env, ...env }, encoding: 'utf8' })
  if (status !== 0) throw new Error('the probe exited with ' + status + ': ' + stderr)
  return JSON.parse(stdout)
}
const outside = probe(process.execPath, {})
const before = jailed()
const inside = probe('/app/jail/enter.sh', { TINTYPE_JAIL: String(holders[0]), TINTYPE_JAILED: process.execPath })
tell({ runner, jails: holders.length, jailed: [...before, ...jailed()], inside, outside })`

/** Runs the probe inside and outside the jail of a pod. */
export const probeFromBothPlaces = (pod: string, listeners: readonly { host: string; port: number }[]): Promise<Both> =>
  execScript(pod, PROBE, { files: TOKENS, listeners })
