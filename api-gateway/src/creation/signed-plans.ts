import { createHmac } from 'node:crypto'
import { toBase32 } from '@tintype/crds/crypto/api-keys'
import { currentSecret, isSignedWith, type KeyRing, secretOf, signWith } from '@tintype/crds/crypto/signatures'
import { OBJECTS } from '@tintype/crds/records/folders'
import { type IgnoreReason, ignoreSilently, isFuture, parseStoredJson, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { idempotencyKey } from '@tintype/crds/records/storage-keys'
import { isTooLarge } from '@tintype/crds/storage/port'
import { canonical } from '@tintype/crds/text/json'
import { z } from 'zod'
import type { FileStore, KeyRingSource, ObjectStore } from '../store/ports.ts'
import { CreationPlan, isConsistent } from './plan.ts'

// Plans for creating screenshots, stored in the bucket for an Idempotency-Key or a shared capture. Each is signed with the release's keys and bound
// to its object key. A plan that someone else wrote or copied counts as absent.

/** The parts of a request that identify it. */
export interface HashedRequest {
  account: string
  /** Method and path. */
  route: string
  body: unknown
}

const Content = z.object({
  hash: z.string().regex(/^[a-z0-9]{1,16}\.[A-Za-z0-9_-]{43}$/),
  plan: CreationPlan,
  /** When a process last started to execute it. */
  takenAt: z.iso.datetime(),
  /** What the plan does not contain: a part of the response, or the state of a shared capture. */
  result: z.json().optional(),
})
type Content = z.infer<typeof Content>

const Signed = Content.extend({ version: z.literal(2), signature: z.string().max(128) })

interface Stored {
  objectKey: string
  etag: string
}

/** A stored plan, in the version that was read or written. */
export interface SignedPlan extends Content, Stored {}

/** An object without a valid plan. */
export interface UnusablePlan extends Stored {
  plan?: undefined
}

export interface SignedPlansDeps {
  objects: Pick<ObjectStore, 'read' | 'write'> & Pick<FileStore, 'stat'>
  keyRing: KeyRingSource
  now: () => Date
  report?: ReportIgnored | undefined
}

const keyed = (secret: Buffer, text: string): Buffer => createHmac('sha256', secret).update(text).digest()
const macOf = (title: string, value: unknown) => (secret: Buffer) => keyed(secret, `${title}\n${JSON.stringify(canonical(value))}`)
const macOfRequest = ({ account, route, body }: HashedRequest) => macOf(`${account}\n${route}`, body)
const macOfContent = (objectKey: string, content: Content) => macOf(`idempotency entry\n${objectKey}`, content)

/**
 * Object keys for an Idempotency-Key: with the current key of the ring first, then with the others, so that plans survive a rotation. The names
 * are HMACs, because Idempotency-Keys may reveal something about the client and must not be guessable from the bucket.
 */
export function idempotencyObjectKeys(account: string, key: string, ring: KeyRing): string[] {
  const others = Object.keys(ring.keys).filter((id) => id !== ring.current)
  const secrets = [currentSecret(ring), ...others.flatMap((id) => secretOf(ring, id) ?? [])]
  return secrets.map((secret) => idempotencyKey(account, toBase32(keyed(secret, `idempotency name\n${account}\n${key}`))))
}

/** Reads and writes signed plans, with conditions. */
export class SignedPlans {
  readonly #deps: SignedPlansDeps

  constructor(deps: SignedPlansDeps) {
    this.#deps = deps
  }

  /** True when the plan is for this request, however its body is ordered. */
  isFor({ hash }: SignedPlan, request: HashedRequest): boolean {
    return isSignedWith(this.#deps.keyRing(), hash, macOfRequest(request))
  }

  async read(objectKey: string): Promise<SignedPlan | UnusablePlan | undefined> {
    const { objects, report = ignoreSilently } = this.#deps
    const stored = await objects.read(objectKey, OBJECTS.idempotency.maxBytes).catch(async (error: unknown) => {
      if (!isTooLarge(error)) throw error
      const file = await objects.stat(objectKey)
      return file && { text: undefined, etag: file.etag }
    })
    if (!stored) return undefined
    const { text, etag } = stored
    const content = text === undefined ? 'size' : this.#parse(text, objectKey)
    if (typeof content === 'object') return { ...content, objectKey, etag }
    report({ kind: 'idempotency', reason: content, key: objectKey })
    return { objectKey, etag }
  }

  /**
   * Stores a new plan, in place of the object with the ETag `replaced` if given. Returns undefined when another request was faster.
   * The hash of the request is keyed because bodies may contain passwords: someone with read access to the bucket must not be able to guess them.
   */
  start(objectKey: string, request: HashedRequest, { plan, result }: Pick<Content, 'plan' | 'result'>, replaced?: string) {
    const hash = signWith(this.#deps.keyRing(), macOfRequest(request))
    return this.#write({ objectKey, hash, plan, takenAt: this.#deps.now().toISOString(), result }, replaced)
  }

  /** Starts to execute a plan of another process. Returns undefined when another request was faster. */
  takeOver(stored: SignedPlan): Promise<SignedPlan | undefined> {
    return this.#write({ ...stored, takenAt: this.#deps.now().toISOString() }, stored.etag)
  }

  /** Stores a result with a plan. Returns undefined when another process has taken it over. */
  complete(stored: SignedPlan, result: Content['result']): Promise<SignedPlan | undefined> {
    return this.#write({ ...stored, result }, stored.etag)
  }

  async #write({ objectKey, hash, plan, takenAt, result }: Omit<SignedPlan, 'etag'>, replaced?: string): Promise<SignedPlan | undefined> {
    const { objects, keyRing } = this.#deps
    const content = { hash, plan, takenAt, ...(result === undefined ? {} : { result }) }
    const text = JSON.stringify({ version: 2, ...content, signature: signWith(keyRing(), macOfContent(objectKey, content)) })
    const etag = await objects.write(objectKey, text, replaced === undefined ? { ifAbsent: true } : { ifMatch: replaced })
    return etag === undefined ? undefined : { ...content, objectKey, etag }
  }

  /** The content of an object, or why it counts as absent. */
  #parse(text: string, objectKey: string): Content | IgnoreReason {
    const { keyRing, now } = this.#deps
    const { data } = Signed.safeParse(parseStoredJson(text))
    if (!data) return 'content'
    const { version: _, signature, ...content } = data
    if (!isSignedWith(keyRing(), signature, macOfContent(objectKey, content))) return 'content'
    if (!isConsistent(content.plan)) return 'id'
    return [content.plan.at, content.takenAt].some((at) => isFuture(new Date(at), now())) ? 'time' : content
  }
}
