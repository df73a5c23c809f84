// The jail: separate user, mount, network and PID namespaces for the browser, created without privileges. The browser sees no network except a
// loopback interface whose listening sockets belong to the guard, no token, nothing of the runner's /tmp, and only its own processes. The jail needs
// user namespaces, like Chromium's own sandbox, and permission to mount in them.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type net from 'node:net'
import type { OpenListener } from '../egress/guard.ts'
import type { Listener } from '../egress/session.ts'
import { SECRETS_DIRECTORY, type Wrapper } from './wrapper.ts'

/** Settings of a jail. */
export interface JailConfig {
  /** Contains hold.sh, enter.sh and listen.mjs (capture-runner/jail). */
  programsDirectory: string
  /** Covered by empty directories. The browser writes its profile to its own /tmp. */
  hiddenDirectories?: readonly string[]
  /** Maximum number of open sessions: those of the current capture, of the next one, and those that are still closing. */
  listenerCount?: number
  startTimeoutMilliseconds?: number
}

export interface Jail extends Wrapper {
  /** For `guard.openSession`. Reuses ports, the longest unused first, so close a session's browser context before the session. */
  openListener: OpenListener
  /** Kills all processes in the jail at once and waits for their end. May be called again. */
  close: () => Promise<void>
}

const HIDDEN_DIRECTORIES = ['/tmp', '/dev/shm', SECRETS_DIRECTORY]
const LISTENERS = 8
const START_TIMEOUT_MILLISECONDS = 10_000

/** Wraps a server whose socket was created in the jail. Between two sessions it closes incoming connections. */
const toListener = (server: net.Server, port: number, onRelease: (listener: Listener) => void): Listener => {
  let onConnection: ((socket: net.Socket) => void) | undefined
  // The two directions of a tunnel close separately.
  ;(server as net.Server & { allowHalfOpen: boolean }).allowHalfOpen = true
  server.on('connection', (socket) => (onConnection ? onConnection(socket) : socket.destroy()))
  const listener: Listener = {
    proxyUrl: `socks5://127.0.0.1:${port}`,
    listen: (handler) => {
      onConnection = handler
    },
    release: () => {
      onConnection = undefined
      onRelease(listener)
    },
  }
  return listener
}

const receiveServers = (holder: ChildProcess, count: number, onServer: (server: net.Server, port: number) => void): Promise<void> =>
  new Promise((resolve) => {
    let received = 0
    holder.on('message', ({ port }: { port: number }, server) => {
      onServer(server as net.Server, port)
      received += 1
      if (received === count) holder.send('received', () => resolve())
    })
  })

const failedStart = async (holder: ChildProcess, signal: AbortSignal): Promise<never> => {
  let output = ''
  holder.stderr?.on('data', (chunk) => {
    output += chunk
  })
  const reason = await Promise.race([
    once(holder, 'exit', { signal }).then(([code, killedBy]) => `it ended with ${code ?? killedBy}`),
    once(holder, 'error', { signal }).then(([error]) => String(error)),
  ])
  throw new Error(`the jail cannot be created: ${output.trim() || reason}`)
}

/** @throws Error when the node does not allow it; the message includes the output of the failed program */
export const openJail = async (config: JailConfig): Promise<Jail> => {
  const count = config.listenerCount ?? LISTENERS
  const hidden = config.hiddenDirectories ?? HIDDEN_DIRECTORIES
  const { programsDirectory } = config
  const inside = [
    'sh',
    `${programsDirectory}/hold.sh`,
    process.execPath,
    `${programsDirectory}/listen.mjs`,
    String(count),
    String(process.pid),
    ...hidden,
  ]
  const namespaces = ['--user', '--map-root-user', '--mount', '--net', '--pid', '--fork', '--kill-child=SIGKILL']
  const holder = spawn('unshare', [...namespaces, ...inside], {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin' },
  })
  const isGone = new Promise<void>((resolve) => {
    holder.once('exit', () => resolve())
    holder.once('error', () => resolve())
  })
  const servers: net.Server[] = []
  const free: Listener[] = []
  const close = async (): Promise<void> => {
    for (const server of servers.splice(0)) server.close()
    holder.kill('SIGKILL')
    await isGone
  }

  const started = new AbortController()
  const tooLate = AbortSignal.timeout(config.startTimeoutMilliseconds ?? START_TIMEOUT_MILLISECONDS)
  const signal = AbortSignal.any([started.signal, tooLate])
  try {
    const received = receiveServers(holder, count, (server, port) => {
      servers.push(server)
      free.push(toListener(server, port, (listener) => free.push(listener)))
    })
    await Promise.race([received, failedStart(holder, signal)])
  } catch (error) {
    await close()
    throw tooLate.aborted ? new Error('the jail cannot be created: it did not start in time', { cause: error }) : error
  } finally {
    started.abort()
  }
  holder.disconnect()

  return {
    command: (program) => ({
      executablePath: `${programsDirectory}/enter.sh`,
      env: { TINTYPE_JAIL: String(holder.pid), TINTYPE_JAILED: program },
    }),
    openListener: async () => {
      const listener = free.shift()
      if (!listener) throw new Error(`the jail has ${count} listeners, and all are in use`)
      return listener
    },
    close,
  }
}
