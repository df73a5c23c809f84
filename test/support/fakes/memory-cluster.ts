// An API server in memory. Its client is that of the programs, without connections: their Resources and Reflectors work on it as on a real one.
// test/integration/client/memory-cluster.test.ts shows the same rules on a real API server.

import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { KubeError } from '../../../crds/client/kube-error.ts'
import type { KubeHttp, KubeRequest, KubeStream, Query } from '../../../crds/client/kube-http.ts'
import type { KubeObject, ObjectMeta } from '../../../crds/client/kube-object.ts'
import { pathOf, Resource, type ResourceDefinition } from '../../../crds/client/resource.ts'
import type { WatchEvent } from '../../../crds/client/watch-stream.ts'
import { assertMayWrite, type MayWrite } from '../../../crds/src/runtime/fence.ts'
import { patchObject, UnappliedPatch } from './patch-object.ts'

type Stored = KubeObject & { spec?: unknown; status?: unknown; metadata: ObjectMeta & { name: string } }

/** What happens to a request. `lost`: it is executed, but its response is lost. `refused`: nothing accepts the connection. */
export type Fault = 'lost' | 'refused' | KubeError

/** A request as faults see it. */
export interface Call {
  verb: 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete'
  /** Plural name of the kind. */
  resource: string
  name: string | undefined
  subresource: string | undefined
}

type Location = Pick<ResourceDefinition, 'group' | 'version' | 'plural' | 'namespaced'>

interface Target extends Pick<Call, 'name' | 'subresource'> {
  /** Path of the collection. */
  collection: string
  namespace: string | undefined
}

const PATH = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/
const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE'])

const refuse = (status: number, reason: string, message = reason): KubeError => new KubeError({ status, reason, message })
/** The conflict of an object that has changed. */
export const conflict = (): KubeError => refuse(409, 'Conflict', 'the object has been modified')
/** The response to an object that violates its schema. */
export const invalid = (field: string): KubeError =>
  new KubeError({ status: 422, reason: 'Invalid', message: field, details: { causes: [{ field, reason: 'FieldValueInvalid' }] } })

export class MemoryCluster {
  readonly namespace: string
  /** The client of a program. */
  readonly http: KubeHttp
  /** Decides about each request whether it fails. */
  fault: (call: Call) => Fault | undefined = () => undefined
  /** Requests so far that could write, such as `patch screenshots/a/status`. */
  readonly writes: string[] = []
  readonly #now: () => Date
  readonly #objects = new Map<string, Map<string, Stored>>()
  readonly #history: { collection: string; version: number; event: WatchEvent<Stored> }[] = []
  readonly #watches = new Set<() => void>()
  #version = 100
  #uids = 0
  /** Requests without a response yet. */
  open = 0

  constructor({ namespace = 'default', now = () => new Date() }: { namespace?: string; now?: () => Date } = {}) {
    this.namespace = namespace
    this.#now = now
    this.http = this.#clientOf(() => true)
  }

  /** The client of a test for a kind. */
  client<T extends KubeObject>(definition: ResourceDefinition<T>): Resource<T> {
    return new Resource(this.http, definition)
  }

  /** Stores an object as it is, with its status, as if several clients had written it. */
  put<T extends KubeObject>(definition: ResourceDefinition<T>, object: T): T {
    const stored = { ...object, ...(definition.form?.write(object) ?? {}) } as unknown as Stored
    const metadata = this.#newMetadata(stored.metadata, definition.namespaced ? this.namespace : undefined)
    return this.#store(this.#collectionOf(definition), { ...stored, metadata: { ...metadata, ...stored.metadata } }) as unknown as T
  }

  /** The objects of a kind. */
  list<T extends KubeObject>(definition: ResourceDefinition<T>): T[] {
    const stored = [...(this.#objects.get(this.#collectionOf(definition))?.values() ?? [])] as unknown as T[]
    return structuredClone(stored).map((object) => definition.form?.read(object) ?? object)
  }

  get<T extends KubeObject>(definition: ResourceDefinition<T>, name: string): T | undefined {
    return this.list(definition).find(({ metadata }) => metadata.name === name)
  }

  /** Removes an object at once, as a client does that deletes it and its finalizers. */
  remove(definition: Location, name: string): void {
    this.#drop(this.#collectionOf(definition), name)
  }

  #collectionOf({ namespaced, ...definition }: Location): string {
    return pathOf(definition, namespaced ? this.namespace : undefined)
  }

  #clientOf(mayWrite: MayWrite): KubeHttp {
    return {
      namespace: this.namespace,
      host: 'memory',
      request: <T>(request: KubeRequest) => this.#request<T>(request, mayWrite),
      stream: (watch: Pick<KubeRequest, 'path' | 'query' | 'signal'>) => this.#stream(watch),
      fenced: (mayWrite: MayWrite) => this.#clientOf(mayWrite),
      close: async () => undefined,
    } as unknown as KubeHttp
  }

  async #request<T>(request: KubeRequest, mayWrite: MayWrite): Promise<T> {
    const { method, path, signal, resource = '', repeat = IDEMPOTENT.has(method) ? 'always' : 'unsent' } = request
    const target = parsePath(path)
    const call: Call = { verb: request.verb as Call['verb'], resource, name: target.name, subresource: target.subresource }
    this.open++
    try {
      // A real request takes time, in which others are executed.
      await setImmediate()
      signal?.throwIfAborted()
      if (method !== 'GET') {
        assertMayWrite(mayWrite)
        this.writes.push([call.verb, [resource, target.name, target.subresource].filter(Boolean).join('/')].join(' '))
      }
      const fault = this.fault(call)
      if (fault instanceof KubeError) throw fault
      if (fault === 'refused') throw refuse(0, 'Refused', 'no response from the API server')
      const response = this.#respond(target, request)
      if (fault === 'lost' && repeat !== 'always') throw refuse(0, 'Unreachable', 'no response from the API server')
      return structuredClone(fault === 'lost' ? this.#respond(target, request) : response) as T
    } finally {
      this.open--
    }
  }

  #respond(target: Target, request: KubeRequest): unknown {
    const { collection, name } = target
    if (request.method === 'POST') return this.#create(target, request.body as Stored)
    if (name === undefined) return this.#listAll(collection, request.query)
    const object = this.#objects.get(collection)?.get(name)
    if (!object) throw refuse(404, 'NotFound', `${name} not found`)
    if (request.method === 'PUT') return this.#update(target, object, request.body as Stored)
    if (request.method === 'PATCH') return this.#patch(target, object, request)
    if (request.method === 'DELETE') return this.#delete(collection, object, request.body as DeleteBody)
    return object
  }

  #listAll(collection: string, { labelSelector }: Query = {}): object {
    const objects = [...(this.#objects.get(collection)?.values() ?? [])]
    const items = objects.filter((object) => isSelected(object, labelSelector))
    return { metadata: { resourceVersion: String(this.#version) }, items }
  }

  #create({ collection, namespace }: Target, { status: _, ...object }: Stored): Stored {
    const { name = `${object.metadata.generateName}${this.#uids}` } = object.metadata
    if (this.#objects.get(collection)?.has(name)) throw refuse(409, 'AlreadyExists', `${name} already exists`)
    const metadata = { ...object.metadata, ...this.#newMetadata({ ...object.metadata, name }, namespace) }
    return this.#store(collection, { ...object, metadata })
  }

  #newMetadata({ name }: ObjectMeta, namespace: string | undefined): Stored['metadata'] {
    const uid = `00000000-0000-4000-9000-${String(++this.#uids).padStart(12, '0')}`
    // Times of objects have no fraction.
    const creationTimestamp = this.#now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
    return { name, ...(namespace === undefined ? {} : { namespace }), uid, generation: 1, creationTimestamp }
  }

  #update(target: Target, object: Stored, wanted: Stored): Stored {
    const { resourceVersion } = wanted.metadata
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) throw conflict()
    return this.#write(target, object, wanted)
  }

  #patch(target: Target, object: Stored, { contentType = '', body }: KubeRequest): Stored {
    const { resourceVersion, uid } = (body as Partial<Stored>).metadata ?? {}
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) throw conflict()
    if (uid !== undefined && uid !== object.metadata.uid && target.subresource === undefined) throw invalid('metadata.uid')
    try {
      return this.#write(target, object, patchObject(object, { contentType, body }))
    } catch (error) {
      throw error instanceof UnappliedPatch ? refuse(422, 'Invalid', error.message) : error
    }
  }

  /** Writes what the subresource allows: only the status, or all but the status. */
  #write({ collection, subresource }: Target, before: Stored, wanted: Stored): Stored {
    const { uid, resourceVersion, creationTimestamp, generation = 1, deletionTimestamp } = before.metadata
    const fixed = { uid, resourceVersion, creationTimestamp, ...(deletionTimestamp ? { deletionTimestamp } : {}) }
    const { status: _, ...rest } = wanted
    const kept = before.status === undefined ? {} : { status: before.status }
    const grown = isDeepStrictEqual(before.spec, wanted.spec) ? generation : generation + 1
    const after: Stored =
      subresource === 'status'
        ? { ...before, status: wanted.status }
        : { ...rest, ...kept, metadata: { ...wanted.metadata, ...fixed, generation: grown } }
    // A write that changes nothing has no new version and no event.
    if (isDeepStrictEqual(toJson(before), toJson(after))) return before
    const stored = this.#store(collection, after)
    const isFreed = deletionTimestamp !== undefined && subresource === undefined && !stored.metadata.finalizers?.length
    if (isFreed) this.#drop(collection, stored.metadata.name)
    return stored
  }

  #delete(collection: string, object: Stored, { preconditions = {}, gracePeriodSeconds = 0 }: DeleteBody): object {
    const { name, uid, resourceVersion, finalizers = [], deletionTimestamp } = object.metadata
    if (preconditions.uid !== undefined && preconditions.uid !== uid) throw conflict()
    if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) throw conflict()
    const isPod = collection.endsWith('/pods')
    if (finalizers.length === 0 && (!isPod || gracePeriodSeconds === 0)) this.#drop(collection, name)
    else if (deletionTimestamp === undefined) {
      const end = new Date(this.#now().getTime() + (isPod ? gracePeriodSeconds * 1_000 : 0))
      this.#store(collection, { ...object, metadata: { ...object.metadata, deletionTimestamp: end.toISOString().replace(/\.\d+Z$/, 'Z') } })
    }
    return { kind: 'Status', status: 'Success' }
  }

  #store(collection: string, object: Stored): Stored {
    const objects = this.#objects.get(collection) ?? new Map<string, Stored>()
    this.#objects.set(collection, objects)
    const { name } = object.metadata
    const type = objects.has(name) ? 'MODIFIED' : 'ADDED'
    const stored = toJson({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } })
    objects.set(name, stored)
    this.#note(collection, { type, object: stored })
    return stored
  }

  #drop(collection: string, name: string): void {
    const object = this.#objects.get(collection)?.get(name)
    if (!object) return
    this.#objects.get(collection)?.delete(name)
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) }
    this.#note(collection, { type: 'DELETED', object: { ...object, metadata } })
  }

  #note(collection: string, event: WatchEvent<Stored>): void {
    this.#history.push({ collection, version: this.#version, event })
    for (const wake of this.#watches) wake()
  }

  /** A watch: all events of a collection after a version, in order. It ends with its signal. */
  async #stream({ path, query = {}, signal }: Pick<KubeRequest, 'path' | 'query' | 'signal'>): Promise<KubeStream> {
    const { collection } = parsePath(path)
    let next = this.#history.findIndex(({ version }) => version > Number(query.resourceVersion))
    if (next === -1) next = this.#history.length
    const cluster = this
    async function* read(): AsyncGenerator<Buffer> {
      while (!signal?.aborted) {
        const batch = cluster.#history.slice(next).filter((entry) => entry.collection === collection)
        next = cluster.#history.length
        const events = batch.map(({ event }) => event).filter(({ object }) => isSelected(object, query.labelSelector))
        if (events.length > 0) yield Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        else await cluster.#nextEvent(signal)
      }
    }
    return Object.assign(read(), { destroy: () => undefined })
  }

  async #nextEvent(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#watches.add(resolve)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    await promise
    this.#watches.delete(resolve)
  }
}

interface DeleteBody {
  preconditions?: { uid?: string; resourceVersion?: string }
  gracePeriodSeconds?: number
}

function parsePath(path: string): Target {
  const [, root = '', namespace, plural = '', name, subresource] = PATH.exec(path) ?? []
  const collection = [root, ...(namespace === undefined ? [] : ['namespaces', namespace]), plural].join('/')
  return { collection, namespace, name: name && decodeURIComponent(name), subresource }
}

/** Label selectors of equality and of existence. */
function isSelected({ metadata: { labels = {} } }: KubeObject, selector: unknown): boolean {
  const terms = String(selector ?? '')
    .split(',')
    .filter(Boolean)
  return terms.every((term) => {
    const [label = '', value] = term.split('=')
    return value === undefined ? label in labels : labels[label] === value
  })
}

const toJson = <T>(value: T): T => JSON.parse(JSON.stringify(value))
