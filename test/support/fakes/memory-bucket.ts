/** An in-memory bucket that lists like S3: sorted, after a key, with common prefixes. */
export class MemoryBucket {
  readonly objects = new Map<string, string>()
  /** Time at which each object was stored. Default: 1970. */
  readonly modified = new Map<string, Date>()
  /** Called before each operation. An error that it throws fails the operation. */
  beforeCall: (what: string, key: string) => void = () => {}

  keys(prefix = ''): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort()
  }

  list(
    prefix: string,
    { after = '', limit = 1_000, folders = false }: { after?: string | undefined; limit?: number; folders?: boolean } = {},
  ) {
    this.beforeCall('list', prefix)
    const rolled = (key: string): string => {
      const end = folders ? key.indexOf('/', prefix.length) : -1
      return end === -1 ? key : key.slice(0, end + 1)
    }
    const found = new Set(
      this.keys(prefix)
        .filter((key) => key > after)
        .map(rolled),
    )
    return [...found].slice(0, Math.min(limit, 1_000))
  }

  #modifiedAt(key: string): Date {
    return this.modified.get(key) ?? new Date(0)
  }

  /** The operator's view of it. */
  get storage() {
    return {
      list: async (...args: Parameters<MemoryBucket['list']>) => this.list(...args),
      listObjects: async (prefix: string, options: { after?: string | undefined; limit?: number } = {}) =>
        this.list(prefix, options).map((key) => ({ key, lastModified: this.#modifiedAt(key) })),
      exists: async (key: string) => this.objects.has(key),
      readText: async (key: string) => this.objects.get(key),
      write: async (key: string, text: string) => {
        this.beforeCall('write', key)
        this.objects.set(key, text)
      },
      remove: async (keys: readonly string[]) => {
        for (const key of keys) this.objects.delete(key)
      },
      removePrefix: async (prefix: string) => {
        for (const key of this.keys(prefix)) this.objects.delete(key)
      },
    }
  }

  /** The gateway's view of it. */
  get store() {
    return {
      list: async (...args: Parameters<MemoryBucket['list']>) => this.list(...args),
      read: async (key: string) => {
        this.beforeCall('read', key)
        const text = this.objects.get(key)
        return text === undefined ? undefined : { text, etag: 'e' }
      },
      write: async (key: string, text: string) => {
        this.objects.set(key, text)
        return 'e'
      },
      readText: async (key: string) => {
        this.beforeCall('read', key)
        return this.objects.get(key)
      },
      exists: async (key: string) => this.objects.has(key),
    }
  }
}
