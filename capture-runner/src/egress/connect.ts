// A connection to a target: a page's, or the runner's own to where a client sends it. Both by the same rules, and through the same proxy.

import type net from 'node:net'
import { tunnelThroughParent } from './parent-tunnel.ts'
import { checkTarget, dialDirect, parentFor, type RouteContext, type Target } from './route.ts'

/** A connection, and the address that was dialled; absent when a parent proxy dialled. */
export interface Connected {
  socket: net.Socket
  address: string | undefined
}

/** Resolves, checks and dials a target. @throws EgressError */
export async function connect(target: Target, context: RouteContext): Promise<Connected> {
  const host = checkTarget(target, context)
  const parent = parentFor(host, context.policy)
  if (parent) return { socket: await tunnelThroughParent(parent, host, target.port, context), address: undefined }
  const socket = await dialDirect(host, target.port, context)
  return { socket, address: socket.remoteAddress }
}
