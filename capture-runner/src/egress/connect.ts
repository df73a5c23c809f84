// Connects to a target, for a page or for the runner's own upload to a client's URL. Both follow the same rules and use the same proxy.

import type net from 'node:net'
import { tunnelThroughParent } from './parent-tunnel.ts'
import { checkTarget, dialDirect, parentFor, type RouteContext, type Target } from './route.ts'

/** A connection, and the IP address that it reached (absent when a parent proxy connected). */
export interface Connected {
  socket: net.Socket
  address: string | undefined
}

/** Resolves, checks and connects to a target. @throws EgressError */
export async function connect(target: Target, context: RouteContext): Promise<Connected> {
  const host = checkTarget(target, context)
  const parent = parentFor(host, context.policy)
  if (parent) return { socket: await tunnelThroughParent(parent, host, target.port, context), address: undefined }
  const socket = await dialDirect(host, target.port, context)
  return { socket, address: socket.remoteAddress }
}
