import { KubeError } from '../../../crds/client/kube-error.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import type { ListPage, NewObject } from '../../../crds/client/resource.ts'

/** An in-memory fake of Resource's create and read methods. A second create with the same name fails as in the API server. */
export class FakeStore<T extends KubeObject> {
  readonly objects = new Map<string, T>()
  /** Called before each create. An error that it throws fails the create. */
  beforeCreate: (name: string) => void = () => {}

  constructor(...objects: NewObject<T>[]) {
    for (const object of objects) this.objects.set(String(object.metadata?.name), object as T)
  }

  async create(object: NewObject<T>): Promise<T> {
    const name = String(object.metadata?.name)
    this.beforeCreate(name)
    if (this.objects.has(name)) throw new KubeError({ status: 409, reason: 'AlreadyExists', message: `${name} already exists` })
    this.objects.set(name, structuredClone(object) as T)
    return this.get(name)
  }

  async find(name: string): Promise<T | undefined> {
    return this.objects.get(name)
  }

  async get(name: string): Promise<T> {
    const object = this.objects.get(name)
    if (!object) throw new KubeError({ status: 404, reason: 'NotFound', message: `${name} not found` })
    return object
  }

  async list(): Promise<ListPage<T>> {
    return { items: [...this.objects.values()], resourceVersion: '1' }
  }
}
