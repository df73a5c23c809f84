// Shared by both runs of the jail's tests: under the machine's /proc, and under a container's.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type net from 'node:net'
import path from 'node:path'
import { type Browser, chromium } from 'playwright'
import type { Test } from 'tap'
import { EGRESS_FLAGS } from '../../../capture-runner/src/browser/browser.ts'
import { type Jail, openJail } from '../../../capture-runner/src/jail/jail.ts'
import { browserEnvironment, probeSandbox } from '../../../capture-runner/src/jail/probe-sandbox.ts'
import type { Wrapper } from '../../../capture-runner/src/jail/wrapper.ts'
import type { Probed } from '../../support/cluster/browser-place.ts'

export const PROGRAMS = path.resolve(import.meta.dirname, '../../../capture-runner/jail')
export const BROWSER = '/usr/lib/chromium/chromium-headless-shell'

/** Starts the browser of the runner, in a jail or with Landlock if one is given. */
export const launchBrowser = (wrapper?: Wrapper, flags: readonly string[] = EGRESS_FLAGS): Promise<Browser> => {
  const { executablePath, env } = wrapper?.command(BROWSER) ?? { executablePath: BROWSER, env: {} }
  return chromium.launch({
    executablePath,
    env: { ...browserEnvironment(process.env), ...env },
    chromiumSandbox: true,
    args: ['--disable-gpu', ...flags],
  })
}

/** Targets that an attacker would look for in a runner: a token, a listening port and a unix socket. Removed after the test. */
export const startRunnerParts = async (t: Test) => {
  const directory = fs.mkdtempSync('/tmp/tintype-runner-')
  const token = path.join(directory, 'token')
  const socket = path.join(directory, 'socket')
  fs.writeFileSync(token, 'secret')
  const [server, local] = [http.createServer().listen(0, '127.0.0.1'), http.createServer().listen(socket)]
  await Promise.all([once(server, 'listening'), once(local, 'listening')])
  t.teardown(() => {
    server.close()
    local.close()
    fs.rmSync(directory, { recursive: true })
  })
  return { token, socket, listener: { host: '127.0.0.1', port: (server.address() as net.AddressInfo).port } }
}

export const openTestJail = async (t: Test): Promise<Jail> => {
  const jail = await openJail({ programsDirectory: PROGRAMS })
  t.teardown(() => jail.close())
  return jail
}

/**
 * Runs a program in the browser's place (without a wrapper: next to the runner) and returns its output. `inherited` become descriptors above
 * Playwright's.
 */
export const runInPlace = async (
  wrapper: Wrapper | undefined,
  program: string,
  args: readonly string[],
  inherited: 'pipe'[] = [],
): Promise<string> => {
  const { executablePath, env } = wrapper?.command(program) ?? { executablePath: program, env: {} }
  const child = spawn(executablePath, args, {
    env: { ...browserEnvironment(process.env), ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe', ...inherited],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  return output
}

/** Tests that must pass under either /proc. */
export const testJail = (t: Test): void => {
  t.test('Jail blocks access to token, memory, environment, descriptors and listeners for a program in the browser’s place', async (t) => {
    const { token, socket, listener } = await startRunnerParts(t)
    const attack = JSON.stringify({ pid: process.pid, files: [token], listeners: [listener], sockets: [socket] })
    const probe = async (jail?: Jail): Promise<Probed> =>
      JSON.parse(await runInPlace(jail, process.execPath, [`${PROGRAMS}/probe.mjs`, attack]))

    const outside = await probe()
    t.strictSame([outside.readFiles, outside.uncovered], [[token], [token]], 'control: outside the jail, the token is readable')
    t.strictSame(outside.reached, [listener, socket], 'control: outside the jail, the listeners are reachable')
    for (const kind of ['environ', 'memory', 'ptrace', 'signals', 'foreignFds'] as const) {
      t.ok(outside[kind].includes(process.pid), `control: outside the jail, the runner’s ${kind} is accessible`)
    }

    const { signals, ...inside } = await probe(await openTestJail(t))
    const nothing = { readFiles: [], environ: [], memory: [], ptrace: [], foreignFds: [], ownFds: [], reached: [], uncovered: [] }
    t.strictSame(inside, nothing, 'nothing is accessible in the jail')
    t.notOk(signals.includes(process.pid))
  })

  t.test('The probe finds a socket that the runner passes to it', async (t) => {
    const jail = await openTestJail(t)
    const attack = JSON.stringify({ pid: process.pid })
    const probed: Probed = JSON.parse(await runInPlace(jail, process.execPath, [`${PROGRAMS}/probe.mjs`, attack], ['pipe']))
    t.match(probed.ownFds, [{ fd: 5, to: /^socket:/ }])
  })

  t.test('probeSandbox reports a working jail and sandbox', async (t) => {
    const { token, listener } = await startRunnerParts(t)
    const found = await probeSandbox({
      mode: 'auto',
      browserPath: BROWSER,
      programsDirectory: PROGRAMS,
      secretFiles: [token, '/no/such/token'],
      listeners: [listener],
    })
    t.strictSame(found, { jail: true, chromiumSandbox: true, hidesTokens: true, detail: 'jail and sandbox work' })
  })

  t.test('probeSandbox detects a jail that does not hide a secret', async (t) => {
    const { token, listener } = await startRunnerParts(t)
    const config = {
      browserPath: BROWSER,
      programsDirectory: PROGRAMS,
      secretFiles: [token],
      listeners: [listener],
      hiddenDirectories: ['/dev/shm'],
    }
    t.match(await probeSandbox({ mode: 'auto', ...config }), {
      jail: false,
      chromiumSandbox: true,
      hidesTokens: true,
      detail: /^the jail is not effective: readFiles .*token"\]$/,
    })
  })
}
