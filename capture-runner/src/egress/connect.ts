// A connection of the runner's own to where a client sends it: by the same rules, and through the same proxy, as a page's.

import type net from 'node:net'
import { tunnelThroughParent } from './parent-tunnel.ts'
import { checkTarget, dialDirect, parentFor, type RouteContext, type Target } from './route.ts'

/** Resolves, checks and dials a target. @throws EgressError */
export async function connect(target: Target, context: RouteContext): Promise<net.Socket> {
  const host = checkTarget(target, context)
  const parent = parentFor(host, context.policy)
  return parent ? tunnelThroughParent(parent, host, target.port, context) : dialDirect(host, target.port, context)
}
