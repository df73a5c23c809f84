import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { hasTag } from '../../http/etag.ts'

interface Served {
  text: string
  tag: string
}

async function write(): Promise<Served> {
  // Loaded with the first request, because most processes never need these tables and examples.
  const { buildDocument } = await import('../../openapi/document.ts')
  const text = JSON.stringify(buildDocument())
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` }
}

/** GET /openapi.json: public. */
export function addOpenApiRoute(app: FastifyInstance): void {
  let served: Promise<Served> | undefined
  app.get('/openapi.json', async (request, reply) => {
    served ??= write()
    const { text, tag } = await served
    reply.headers({ etag: tag, 'cache-control': 'public, no-cache' })
    if (hasTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}
