import type { Operation } from '../../../api-gateway/src/http/route.ts'
import { pathOf } from '../../../api-gateway/src/openapi/document.ts'
import { ErrorBody, errorsOf } from '../../../api-gateway/src/openapi/operations.ts'
import { routes } from '../../../api-gateway/src/resources/all.ts'

// Compares a response with the OpenAPI document. A field that is not documented counts as a problem.

/** A response in a test. */
export interface SeenResponse {
  method: string
  path: string
  status: number
  /** Parsed if it is JSON. */
  body: unknown
}

const toPattern = (operation: Operation): RegExp => new RegExp(`^(${pathOf(operation).replaceAll(/\{\w+\}/g, '[^/]+')})$`)

/** The operation of a request. A literal path takes precedence over one with a parameter. */
export function findOperation(method: string, path: string): Operation | undefined {
  const wanted = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase()
  const full = path.startsWith('/v1/') ? `/api${path}` : path
  const all = routes.filter((operation) => operation.method === wanted && toPattern(operation).test(full))
  return all.find((operation) => pathOf(operation) === full) ?? all[0]
}

/** The problem of a response, or undefined. Responses to requests without an operation are not checked. */
export function findUndocumented({ method, path, status, body }: SeenResponse): string | undefined {
  const operation = findOperation(method, path)
  if (!operation) return undefined
  const where = `${method} ${path} → ${status}`
  const documented = operation.responses[status]
  if (documented) return documented.schema && isJson(body) ? differenceOf(where, documented.schema, body) : undefined
  const codes: readonly string[] | undefined = errorsOf(operation).get(status)
  if (!codes) return `${where}: ${operation.id} has no such status`
  if (!isJson(body)) return undefined
  const { code } = (body as { error: { code: string } }).error
  return codes.includes(code) ? differenceOf(where, ErrorBody, body) : `${where}: ${operation.id} has no ${code}`
}

const isJson = (body: unknown): boolean => typeof body === 'object' && body !== null && !Buffer.isBuffer(body)

function differenceOf(where: string, schema: NonNullable<Operation['responses'][number]['schema']>, body: unknown): string | undefined {
  const parsed = schema.safeParse(body)
  if (!parsed.success) return `${where}: ${parsed.error.message}`
  const extra = findExtra(body, parsed.data, '')
  return extra === undefined ? undefined : `${where}: ${extra} is not documented`
}

/** Schemas drop unknown fields, so a field that is missing afterwards is not documented. */
function findExtra(sent: unknown, known: unknown, place: string): string | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined
  for (const [name, value] of Object.entries(sent)) {
    const here = `${place}.${name}`
    if (typeof known !== 'object' || known === null || !Object.hasOwn(known, name)) return here
    const deeper = findExtra(value, (known as Record<string, unknown>)[name], here)
    if (deeper !== undefined) return deeper
  }
  return undefined
}
