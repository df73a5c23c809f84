import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { name } from '../../http/fields.ts'
import { hasTag } from '../../http/headers.ts'
import { type Input, type Route, routeFor } from '../../http/route.ts'

export interface OpenApiDeps {
  /** Builds the OpenAPI document. The code that builds it loads with the first request, because most processes never need it. */
  buildDocument: () => Promise<object>
}

interface Served {
  bytes: Buffer
  tag: string
}

const OpenApiDocument = name('OpenApiDocument', z.record(z.string(), z.unknown()).describe('This document.'))

async function write({ buildDocument }: OpenApiDeps): Promise<Served> {
  // Bytes, because each response would convert half a megabyte of text again, and anybody can request many.
  const bytes = Buffer.from(JSON.stringify(await buildDocument()))
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }
}

let served: Promise<Served> | undefined

async function readDocument({ request, reply }: Input, deps: OpenApiDeps): Promise<FastifyReply> {
  served ??= write(deps)
  const { bytes, tag } = await served
  reply.headers({ etag: tag, 'cache-control': 'public, no-cache' })
  if (hasTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(bytes)
}

const route = routeFor<OpenApiDeps>('Service')

export const openApiRoutes: readonly Route<OpenApiDeps>[] = [
  route('GET /openapi.json', {
    id: 'getOpenApiDocument',
    summary: 'Read this document',
    query: 'unchecked',
    responses: {
      200: { description: 'This document.', schema: OpenApiDocument, headers: ['ETag', 'Cache-Control'] },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
    handle: readDocument,
  }),
]
