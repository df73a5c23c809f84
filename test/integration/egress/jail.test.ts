// The jail under the conditions of a pod: an unprivileged user, no capabilities, no new privileges. A probe in the browser's place tries
// what a compromised browser could do. The same probe outside the jail is the control.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import { openJail } from '../../../capture-runner/src/jail/jail.ts'
import { browserEnvironment, isSandboxSufficient, probeSandbox } from '../../../capture-runner/src/jail/probe-sandbox.ts'
import { landlockWrapper, type Wrapper } from '../../../capture-runner/src/jail/wrapper.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { becomeRunner } from '../../support/processes/as-runner.ts'
import { BROWSER, launchBrowser, openTestJail, PROGRAMS, runInPlace, startRunnerParts, testJail } from './jail-probes.ts'
import { startFixedSite, startSite } from './sites.ts'

becomeRunner(import.meta.filename)
const { default: t } = await import('tap')

testJail(t)

t.test('the jail fails for a checkout below /tmp, in a path with spaces: only its own programs stay visible', async (t) => {
  const checkout = fs.mkdtempSync('/tmp/a checkout ')
  t.teardown(() => fs.rmSync(checkout, { recursive: true }))
  const programs = path.join(checkout, 'jail')
  fs.cpSync(PROGRAMS, programs, { recursive: true })
  fs.writeFileSync(path.join(checkout, 'secret'), 'hush')
  const node = process.execPath
  const jail = await openJail({ programsDirectory: programs, hiddenDirectories: ['/tmp', path.dirname(node)] })
  t.teardown(() => jail.close())
  t.strictSame((await runInPlace(jail, 'ls', ['-A', checkout])).trim(), 'jail')
  t.strictSame((await runInPlace(jail, 'ls', ['-A', path.dirname(node)])).trim(), path.basename(node))
  const attack = JSON.stringify({ pid: process.pid, files: [path.join(checkout, 'secret')] })
  t.match(JSON.parse(await runInPlace(jail, node, [`${programs}/probe.mjs`, attack])), { readFiles: [], uncovered: [] })
})

/** All processes, zombies included. */
const listProcesses = (): { pid: number; parent: number; state: string }[] =>
  fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, state = '', parent = ''] = /\) (\S) (\d+)/.exec(fs.readFileSync(`/proc/${name}/stat`, 'latin1')) ?? []
        return [{ pid: Number(name), parent: Number(parent), state }]
      } catch {
        return []
      }
    })

/** This process's descendants. */
const descendants = (root = process.pid): number[] => {
  const all = listProcesses()
  const below = (pid: number): number[] => all.filter(({ parent }) => parent === pid).flatMap((child) => [child.pid, ...below(child.pid)])
  return below(root)
}

/** Loads a page in a jailed browser through the guard. */
const loadInJail = async (t: Test, port: number) => {
  const jail = await openTestJail(t)
  const browser = await launchBrowser(jail)
  const session = await createGuard().openSession(jail.openListener)
  t.teardown(async () => {
    await browser.close()
    session.close()
  })
  session.arm({ rules: { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['127.0.0.0/8'] }, maxBytes: 1e6 })
  const page = await browser.newPage({ proxy: { server: session.proxyUrl } })
  await page.goto(`http://127.0.0.1:${port}/`)
  return { page, session }
}

t.test('A jailed browser runs with its own sandbox, and loads pages only through the guard', async (t) => {
  const site = await startSite(t, (_request, response) => response.end('<title>through</title>'))
  const { page, session } = await loadInJail(t, site.port)
  t.equal(await page.title(), 'through')
  t.match(session.requestLog.entries, [{ port: site.port, decision: 'allowed' }])
  const renderers = descendants().filter((pid) => commandLine(pid).join(' ').includes('--type=renderer'))
  t.ok(renderers.length > 0)
  for (const pid of renderers)
    t.match(fs.readFileSync(`/proc/${pid}/status`, 'latin1'), /^Seccomp:\t2$/m, 'a renderer is under seccomp-bpf')
})

t.test('A response that only browsers tolerate still loads', async (t) => {
  const body = '<title>forgiven</title>'
  const head = `HTTP/1.1 200 OK\r\nno colon at all\r\nX Y: 1\r\nContent-Type: text/html\r\nContent-Length: ${body.length}`
  const site = await startFixedSite(t, `${head}\r\n\r\n${body}`)
  const { page } = await loadInJail(t, site.port)
  t.equal(await page.title(), 'forgiven')
})

const commandLine = (pid: number): string[] => {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
  } catch {
    return []
  }
}

t.test('Jail ends with all its processes', async (t) => {
  const before = descendants()
  const jail = await openJail({ programsDirectory: PROGRAMS })
  const browser = await launchBrowser(jail)
  await browser.newPage()
  const during = descendants().filter((pid) => !before.includes(pid))
  t.ok(during.length > 5, `${during.length} processes`)
  await jail.close()
  await jail.close()
  await eventually('all processes have ended', async () => during.every((pid) => !fs.existsSync(`/proc/${pid}`)))
  t.notOk(browser.isConnected())
})

t.test('Killing the process group, as Playwright does, ends the browser in the jail', async (t) => {
  const jail = await openTestJail(t)
  const { executablePath, env } = jail.command('sh')
  const child = spawn(executablePath, ['-c', 'sleep 1000 & sleep 1000'], {
    env: { ...browserEnvironment(process.env), ...env },
    detached: true,
    stdio: 'ignore',
  })
  const group = await eventually('both sleep', async () => {
    const sleepers = descendants().filter((pid) => commandLine(pid)[0] === 'sleep')
    return sleepers.length === 2 && sleepers
  })
  process.kill(-(child.pid as number), 'SIGKILL')
  await once(child, 'close')
  await eventually('both processes have ended', async () => group.every((pid) => !fs.existsSync(`/proc/${pid}`)))
})

t.test('Jail ends when the runner is killed', async (t) => {
  const program = `
    import { openJail } from ${JSON.stringify(`${PROGRAMS}/../src/jail/jail.ts`)}
    const jail = await openJail({ programsDirectory: ${JSON.stringify(PROGRAMS)} })
    const { executablePath, env } = jail.command('sleep')
    const { spawn } = await import('node:child_process')
    const child = spawn(executablePath, ['1000'], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
    console.log(child.pid, env.TINTYPE_JAIL)
    setInterval(() => {}, 1000)`
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(runner.stdout, 'data')
  const pids = String(line).trim().split(' ').map(Number)
  await eventually('the program is in the jail', async () => pids.every((pid) => fs.existsSync(`/proc/${pid}`)))
  runner.kill('SIGKILL')
  await eventually('both processes have ended', async () => pids.every((pid) => !isAlive(pid)))
  t.equal(pids.length, 2)
})

/** Zombies do not count as alive: init may be slow to reap them. */
const isAlive = (pid: number): boolean => listProcesses().some((process) => process.pid === pid && process.state !== 'Z')

t.test('Jail gives the browser a lower CPU priority than the runner', async (t) => {
  const jail = await openTestJail(t)
  t.equal(await runInPlace(jail, process.execPath, ['--eval', "console.log(require('os').getPriority())"]), '10\n')
})

t.test('Jail lends each listener to one session at a time, and closes connections in between', async (t) => {
  const jail = await openJail({ programsDirectory: PROGRAMS, listenerCount: 2 })
  t.teardown(() => jail.close())
  const guard = createGuard()
  const [one, two] = [await guard.openSession(jail.openListener), await guard.openSession(jail.openListener)]
  t.not(one.proxyUrl, two.proxyUrl)
  await t.rejects(guard.openSession(jail.openListener), { message: /2 listeners/ })
  one.close()
  const connect = `require('net').connect(${new URL(one.proxyUrl).port}, '127.0.0.1').on('connect', () => console.log('open')).on('close', () => console.log('closed')).on('error', () => {})`
  t.equal(await runInPlace(jail, process.execPath, ['--eval', connect]), 'open\nclosed\n')
  const three = await guard.openSession(jail.openListener)
  t.equal(three.proxyUrl, one.proxyUrl)
  two.close()
  three.close()
})

t.test('openJail reports the error of the node, and leaves no process behind', async (t) => {
  const before = descendants()
  await t.rejects(openJail({ programsDirectory: '/nowhere' }), { message: /the jail cannot be created: .*hold\.sh/ })
  assertEvery(t, descendants(), (pid) => before.includes(pid))
})

t.test('probeSandbox reports a node that allows no user namespaces', async (t) => {
  const { token } = await startRunnerParts(t)
  const config = { mode: 'auto', browserPath: BROWSER, programsDirectory: PROGRAMS, secretFiles: [token], listeners: [] }
  const program = `
    import { probeSandbox } from ${JSON.stringify(`${PROGRAMS}/../src/jail/probe-sandbox.ts`)}
    console.log(JSON.stringify(await probeSandbox(${JSON.stringify(config)})))`
  const without = 'echo 0 >/proc/sys/user/max_user_namespaces && exec unshare --user --map-user=10001 --map-group=10001 "$@"'
  // The limit applies in the namespace where it is set: it allows this level and none below.
  const nested = ['--user', '--map-root-user', 'sh', '-c', without.replace('echo 0', 'echo 1'), 'sh']
  nested.push(process.execPath, '--input-type=module', '--eval', program)
  const { stdout } = spawnSync('unshare', nested, { encoding: 'utf8' })
  t.match(JSON.parse(stdout), {
    jail: false,
    chromiumSandbox: false,
    hidesTokens: true,
    detail: /the jail cannot be created: unshare.*Chromium’s sandbox does not start/,
  })
})

t.test('without a jail, the browser cannot read the token of the pod', async (t) => {
  const { token } = await startRunnerParts(t)
  const readToken = async (wrapper?: Wrapper) => {
    const browser = await launchBrowser(wrapper)
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    const loaded = await page.goto(`file://${token}`).catch((error: Error) => error)
    return loaded instanceof Error ? loaded.message : page.textContent('body')
  }
  t.equal(await readToken(), 'secret', 'control: without Landlock, the browser shows the token')
  t.match(await readToken(landlockWrapper({ programsDirectory: PROGRAMS, secretFiles: [token] })), /ERR_ACCESS_DENIED/)
})

t.test('without a jail, a program in the browser’s place cannot read token and memory of the runner', async (t) => {
  const { token } = await startRunnerParts(t)
  const own = fs.mkdtempSync('/tmp/tintype-own-')
  t.teardown(() => fs.rmSync(own, { recursive: true }))
  const attack = JSON.stringify({ pid: process.pid, files: [token] })
  const wrapper = landlockWrapper({ programsDirectory: PROGRAMS, secretFiles: [token] })
  const { signals: _, ...inside } = JSON.parse(await runInPlace(wrapper, process.execPath, [`${PROGRAMS}/probe.mjs`, attack]))
  const nothing = { readFiles: [], environ: [], memory: [], ptrace: [], foreignFds: [], ownFds: [], reached: [], uncovered: [] }
  t.strictSame(inside, nothing)
  // Chromium moves its own files from one directory to another.
  const move = 'cd "$1" && mkdir a b && echo text >a/file && mv -n a/file b/ && cat b/file && env | grep TINTYPE_'
  t.equal(await runInPlace(wrapper, 'sh', ['-c', move, 'sh', own]), 'text\n')
})

t.test('isSandboxSufficient needs jail and sandbox when the mode is required', async (t) => {
  const both = { jail: true, chromiumSandbox: true, detail: '' }
  for (const found of [both, { ...both, jail: false }, { ...both, chromiumSandbox: false }]) {
    t.equal(isSandboxSufficient('required', found), found === both)
    t.equal(isSandboxSufficient('auto', found), true)
    t.equal(isSandboxSufficient('off', found), true)
  }
  t.match(await probeSandbox({ mode: 'off', browserPath: '', programsDirectory: '', secretFiles: [], listeners: [] }), {
    jail: false,
    chromiumSandbox: false,
  })
})
