import { TooLongError } from '../src/runtime/limited-read.ts'
import { isNotFound } from './kube-error.ts'
import type { KubeHttp, KubeRequest, Query, Repeat } from './kube-http.ts'
import type { KubeObject } from './kube-object.ts'

/** A kind and its location in the API. `T` is the type of its objects, for the compiler only. */
export type ResourceDefinition<T extends KubeObject = KubeObject> = {
  /** Empty for the core group. */
  group: string
  version: string
  plural: string
  kind: string
  namespaced: boolean
  /** Converts between the form in the programs and the stored form, if they differ. Patches are not converted. */
  form?: Form<T> | undefined
  readonly objectType?: T
}

/** See {@link ResourceDefinition}. */
export interface Form<T extends KubeObject> {
  read: (stored: T) => T
  write: (object: T | NewObject<T>) => object
}

/** A resource definition whose objects are of type `T`. */
export function defineResource<T extends KubeObject>(definition: Omit<ResourceDefinition<T>, 'objectType'>): ResourceDefinition<T> {
  return Object.freeze({ ...definition })
}

/** Defines a namespaced kind of Tintype's API group. */
export function tintypeResource<T extends KubeObject>(kind: string, plural: string, form?: Form<T>): ResourceDefinition<T> {
  return defineResource<T>({ group: 'tintype.dev', version: 'v1alpha1', plural, kind, namespaced: true, form })
}

/** Options of every call. The namespace defaults to that of the resource. */
type CallOptions = {
  namespace?: string | undefined
  signal?: AbortSignal | undefined
  timeoutMilliseconds?: number
  repeat?: Repeat
}

/** Options of a list. `resourceVersion: '0'` reads from the API server's cache. */
type ListOptions = CallOptions & {
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
  limit?: number | undefined
  continue?: string | undefined
  resourceVersion?: string | undefined
  allNamespaces?: boolean | undefined
}

/** One page of a list. `continue` is the token of the next page. */
export type ListPage<T> = { items: T[]; resourceVersion: string; continue?: string }

/** Options of a list in pages. `maxItems`: the most objects of a page; Infinity: one page, unless it is too large. */
type PagesOptions = Omit<ListOptions, 'limit' | 'continue'> & { maxItems?: number }

/** Options of a delete. The API server responds with 409 if `uid` or `resourceVersion` does not match. */
type DeleteOptions = CallOptions & {
  uid?: string | undefined
  resourceVersion?: string | undefined
  gracePeriodSeconds?: number
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
}

/** An object to create. It may have no name (`generateName`, reviews). */
export type NewObject<T extends KubeObject> = Omit<T, 'metadata'> & { metadata?: Partial<T['metadata']> }

type Subresource = 'status' | 'scale'
type WriteOptions = CallOptions & { subresource?: Subresource }
type Call = CallOptions & Pick<KubeRequest, 'maxBytes' | 'onBytes'> & { body?: unknown; query?: Query | undefined; contentType?: string }
type ResourceOptions<T> = Pick<CallOptions, 'namespace' | 'timeoutMilliseconds'> & {
  /** Called with each object that this client has written, as the API server returned it. */
  onWritten?: (written: T) => void
}
type RawList<T> = { metadata: { resourceVersion?: string; continue?: string }; items: T[] | null }

/** Objects per page: enough to be fast, and few enough that parsing a page does not delay a lease renewal. */
export const PAGE_SIZE = 500
/** Objects of the first page: each may have 1.5 MB. */
const FIRST_PAGE_SIZE = 10
/** How many times as many objects the next page may have, because they may be larger. */
const PAGE_GROWTH = 4
/** Bytes that a page should have at most. */
const PAGE_BYTES = 4 * 1024 * 1024
/** Bytes after which a page is given up and requested again with fewer objects. */
const MAX_PAGE_BYTES = 4 * PAGE_BYTES
/** The same for a list in one page. */
const MAX_LIST_BYTES = 16 * PAGE_BYTES

/** The verbs of one kind. Every call rejects with a KubeError if the API server refuses or does not respond. */
export class Resource<T extends KubeObject> {
  readonly definition: ResourceDefinition<T>
  readonly #http: KubeHttp
  readonly #defaults: ResourceOptions<T> & { namespace: string }

  constructor(http: KubeHttp, definition: ResourceDefinition<T>, { namespace, ...defaults }: ResourceOptions<T> = {}) {
    this.#http = http
    this.definition = definition
    this.#defaults = { namespace: namespace ?? http.namespace, ...defaults }
  }

  /** The URL path of an object, of its subresource, or, without a name, of the collection. */
  pathOf(name?: string, subresource?: string, namespace = this.#defaults.namespace): string {
    return pathOf(this.definition, this.definition.namespaced ? namespace : undefined, name, subresource)
  }

  get(name: string, options: CallOptions = {}): Promise<T> {
    return this.#take('GET', 'get', this.pathOf(name, undefined, options.namespace), options)
  }

  /** Like `get`, but returns undefined if the object does not exist. */
  async find(name: string, options: CallOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(name, options)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  list(options: ListOptions = {}): Promise<ListPage<T>> {
    return this.#list(options)
  }

  /** The pages of a list. They begin small, and grow as far as the sizes of the objects allow, so that large objects do not fill the process. */
  async *pages({ resourceVersion, maxItems = PAGE_SIZE, ...options }: PagesOptions = {}): AsyncGenerator<ListPage<T>> {
    let limit = maxItems === Number.POSITIVE_INFINITY ? undefined : Math.min(maxItems, FIRST_PAGE_SIZE)
    let next: { continue?: string; resourceVersion?: string | undefined } = { resourceVersion }
    for (;;) {
      let bytes = 0
      const onBytes = (count: number) => {
        bytes = count
      }
      const maxBytes = limit === undefined ? MAX_LIST_BYTES : limit === 1 ? undefined : MAX_PAGE_BYTES
      try {
        const page = await this.#list({ ...options, ...next, limit }, { maxBytes, onBytes })
        yield page
        if (!page.continue) return
        next = { continue: page.continue }
        const fitting = Math.floor((PAGE_BYTES * page.items.length) / bytes)
        limit = Math.max(1, Math.min(maxItems, fitting, PAGE_GROWTH * (limit ?? FIRST_PAGE_SIZE)))
      } catch (error) {
        if (!(error instanceof TooLongError)) throw error
        limit = Math.max(1, Math.floor((limit ?? PAGE_SIZE) / FIRST_PAGE_SIZE))
      }
    }
  }

  async #list(options: ListOptions, sizes: Pick<Call, 'maxBytes' | 'onBytes'> = {}): Promise<ListPage<T>> {
    const { labelSelector, fieldSelector, limit, continue: token, resourceVersion, allNamespaces, ...call } = options
    const path = allNamespaces ? pathOf(this.definition) : this.pathOf(undefined, undefined, call.namespace)
    const query = { labelSelector, fieldSelector, limit, continue: token, resourceVersion }
    const { metadata, items } = await this.#call<RawList<T>>('GET', 'list', path, { ...call, ...sizes, query })
    return {
      items: (items ?? []).map(this.read),
      resourceVersion: metadata.resourceVersion ?? '',
      ...(metadata.continue ? { continue: metadata.continue } : {}),
    }
  }

  /** Reads all pages of a list. */
  async listAll(options: PagesOptions = {}): Promise<T[]> {
    const items: T[] = []
    for await (const page of this.pages(options)) items.push(...page.items)
    return items
  }

  create(object: NewObject<T>, options: CallOptions = {}): Promise<T> {
    const path = this.pathOf(undefined, undefined, options.namespace ?? object.metadata?.namespace)
    return this.#write('POST', 'create', path, { ...options, body: this.#typed(object) })
  }

  /** Writes the whole object. If it has a resourceVersion, replaces only that version. */
  replace(object: T, { subresource, ...options }: WriteOptions = {}): Promise<T> {
    const path = this.pathOf(object.metadata.name, subresource, options.namespace ?? object.metadata.namespace)
    return this.#write('PUT', 'update', path, { ...options, body: this.#typed(object) })
  }

  replaceStatus(object: T, options: CallOptions = {}): Promise<T> {
    return this.replace(object, { ...options, subresource: 'status' })
  }

  patch(name: string, patch: Patch, { subresource, ...options }: WriteOptions = {}): Promise<T> {
    return this.#write('PATCH', 'patch', this.pathOf(name, subresource, options.namespace), { ...options, ...patch })
  }

  /** Requests deletion. An object with finalizers, or a pod in its grace period, still exists for a while. */
  async delete(
    name: string,
    { uid, resourceVersion, gracePeriodSeconds, propagationPolicy, ...options }: DeleteOptions = {},
  ): Promise<void> {
    const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion }
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, gracePeriodSeconds, propagationPolicy }
    await this.#call('DELETE', 'delete', this.pathOf(name, undefined, options.namespace), { ...options, body })
  }

  /** Adds apiVersion and kind, which cached objects lack because items of lists have neither. */
  #typed(object: T | NewObject<T>) {
    if (object.metadata?.leftOut !== undefined)
      throw new Error(`${object.metadata.name} is from a cache, without its large options: writing it would remove them`)
    const { form } = this.definition
    return { ...(form ? form.write(object) : object), apiVersion: apiVersionOf(this.definition), kind: this.definition.kind }
  }

  /** Converts a stored object to the form in the programs. */
  readonly read = (stored: T): T => this.definition.form?.read(stored) ?? stored

  async #take(method: string, verb: string, path: string, options: Call): Promise<T> {
    return this.read(await this.#call<T>(method, verb, path, options))
  }

  async #write(method: string, verb: string, path: string, options: Call): Promise<T> {
    const written = await this.#take(method, verb, path, options)
    this.#defaults.onWritten?.(written)
    return written
  }

  #call<R>(method: string, verb: string, path: string, options: Call): Promise<R> {
    const { namespace: _, timeoutMilliseconds = this.#defaults.timeoutMilliseconds, ...rest } = options
    return this.#http.request<R>({ method, path, verb, resource: this.definition.plural, timeoutMilliseconds, ...rest })
  }
}

/** `group/version`, or only the version in the core group. */
export function apiVersionOf({ group, version }: Pick<ResourceDefinition, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`
}

/** The URL path of a collection, an object or a subresource; without a namespace, that of the whole cluster. */
export function pathOf(
  definition: Pick<ResourceDefinition, 'group' | 'version' | 'plural'>,
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  const root = definition.group === '' ? `/api/${definition.version}` : `/apis/${apiVersionOf(definition)}`
  const parts = [...(namespace === undefined ? [] : ['namespaces', namespace]), definition.plural, name, subresource]
  return [root, ...parts.filter((part) => part !== undefined).map(encodeURIComponent)].join('/')
}

/** The body and content type of a patch. */
export type Patch = { contentType: string; body: unknown }

/** One step of RFC 6902. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string }

/** Conditions that must hold when the API server applies a patch. */
type Preconditions = { resourceVersion?: string | undefined; uid?: string | undefined }

/**
 * A merge patch (RFC 7396): `null` removes a field, and arrays are replaced as a whole.
 * With a resourceVersion, the API server responds with 409 if the object has changed. With a uid, it responds with 422 if another object has the
 * name. On a status subresource it ignores the uid: use a resourceVersion, or a JSON patch with a test.
 */
export function mergePatch(body: Record<string, unknown>, preconditions: Preconditions = {}): Patch {
  const contentType = 'application/merge-patch+json'
  const wanted = Object.entries(preconditions).filter(([, value]) => value !== undefined)
  if (wanted.length === 0) return { contentType, body }
  return { contentType, body: { ...body, metadata: { ...(body.metadata as object | undefined), ...Object.fromEntries(wanted) } } }
}

/**
 * A JSON patch with preconditions. `tests` maps JSON pointers to expected values. If one differs, the API server writes nothing and responds
 * with 422 (`isPatchFailed`).
 */
export function jsonPatch(operations: readonly JsonPatchOperation[], tests: Record<string, unknown> = {}): Patch {
  const checks = Object.entries(tests).map(([path, value]): JsonPatchOperation => ({ op: 'test', path, value }))
  return { contentType: 'application/json-patch+json', body: [...checks, ...operations] }
}

/** Builds a JSON pointer (RFC 6901). Escapes the segments, so that `tintype.dev/hash-1` stays one segment. */
export function pointer(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
