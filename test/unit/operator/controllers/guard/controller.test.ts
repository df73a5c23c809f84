import t from 'tap'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { createGuardController } from '../../../../../operator/src/controllers/guard/controller.ts'
import { createClients } from '../../../../../operator/src/kube/clients.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

t.test('guard compares every policy of the release and its binding', async (t) => {
  const read: string[] = []
  const http = {
    namespace: 'tintype',
    request: async ({ path }: { path: string }) => {
      read.push(path.split('/').slice(-2).join('/'))
      throw new KubeError({ status: 404, reason: 'NotFound', message: 'not found' })
    },
  }
  const names = ['runner-status', 'trusted-spec', 'trusted-status'] as const
  const [admissionPolicy, trustedSpecPolicy, trustedStatusPolicy] = names.map((name) => ({ name, hash: undefined }))
  const config = { admissionPolicy, trustedSpecPolicy, trustedStatusPolicy }
  const { promise, resolve } = Promise.withResolvers<void>()
  const guard = createGuardController(
    { clients: createClients(http as never, {} as never), config, log: silent, controllerMetrics: undefined } as never,
    { onChange: resolve },
  )
  guard.controller.start()
  await promise
  await guard.controller.stop()
  t.match(guard.decision(), { guarded: false, reason: 'PolicyMissing' })
  const kinds = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']
  t.strictSame(read.sort(), kinds.flatMap((kind) => names.map((name) => `${kind}/${name}`)).sort())
})
