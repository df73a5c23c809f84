// A tunnel through another proxy: CONNECT to it, and what it answers 200 to is the tunnel.

import http from 'node:http'
import type net from 'node:net'
import { EgressError } from './egress-error.ts'
import type { ParentProxy } from './policy.ts'
import { dialParent, ignore, type RouteContext } from './route.ts'

/** `Basic …` for the user and password in the proxy's URL, or undefined. */
export const proxyAuthorization = (proxy: ParentProxy): string | undefined => {
  const { username, password } = new URL(proxy.url)
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
}

/** @throws EgressError PROXY_FAILED, also when the proxy refuses the target */
export const tunnelThroughParent = async (proxy: ParentProxy, host: string, port: number, context: RouteContext): Promise<net.Socket> => {
  const socket = await dialParent(proxy, context)
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const authorization = proxyAuthorization(proxy)
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void => {
      clearTimeout(deadline)
      socket.destroy()
      reject(new EgressError('PROXY_FAILED', `the proxy ${new URL(proxy.url).host} ${reason}`, { cause }))
    }
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization ? { 'proxy-authorization': authorization } : {}) },
      createConnection: () => socket,
    })
    const deadline = setTimeout(() => fail('did not answer in time'), context.times.connectTimeoutMilliseconds)
    request.once('connect', (response, tunnel, head) => {
      if (response.statusCode !== 200) return fail(`answered ${response.statusCode} to CONNECT ${authority}`)
      clearTimeout(deadline)
      if (head.length > 0) tunnel.unshift(head)
      resolve(socket)
    })
    request.once('response', (response) => fail(`answered ${response.statusCode} to CONNECT ${authority}`))
    request.on('error', (error) => fail('broke off', error))
    socket.on('error', ignore)
    request.end()
  })
}
