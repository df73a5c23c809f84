import t from 'tap'
import { loadConfig } from '../../../api-gateway/src/config.ts'

const env = {
  TINTYPE_STORAGE_ACCESS_KEY: 'a',
  TINTYPE_STORAGE_SECRET_KEY: 's',
  TINTYPE_DOWNLOAD_KEYS_FILE: '/keys.json',
  TINTYPE_SEALING_KEY_FILE: '/public.json',
  TINTYPE_LINK_KEY_FILE: '/key.json',
}

t.test('loadConfig has a default for everything but secrets and the key file', async (t) => {
  t.match(loadConfig(env), {
    port: 8080,
    metricsPort: 9090,
    publicUrl: '',
    bodyBytes: 33_554_432,
    maxDownloads: 256,
    trustedProxies: [],
    maxSchedules: 1_000,
    thumbnailWidth: 0,
    linkCacheBytes: 33_554_432,
    egress: { allowedHosts: ['*'], allowedCidrs: [], deniedCidrs: [], allowedPorts: [] },
  })
})

t.test('loadConfig reads lists and takes the slash off the public address', async (t) => {
  const more = { TINTYPE_PUBLIC_URL: 'https://shots.example/', TINTYPE_ALLOWED_CIDRS: '10.0.0.0/8, fd00::/8', TINTYPE_ALLOWED_PORTS: '81' }
  const { publicUrl, egress } = loadConfig({ ...env, ...more, TINTYPE_ALLOWED_HOSTS: 'a.example,*.b.example' })
  t.equal(publicUrl, 'https://shots.example')
  t.strictSame(egress, {
    allowedHosts: ['a.example', '*.b.example'],
    allowedCidrs: ['10.0.0.0/8', 'fd00::/8'],
    deniedCidrs: [],
    allowedPorts: [81],
  })
})

t.test('loadConfig names every mistake at once', async (t) => {
  const wrong = {
    TINTYPE_PORT: '0',
    TINTYPE_ALLOWED_CIDRS: '10.0.0.0',
    TINTYPE_PUBLIC_URL: 'shots.example',
    TINTYPE_ALLOWED_PORTS: 'http',
    TINTYPE_TRUSTED_PROXIES: '10.0.0.1',
  }
  const names = [
    'PORT',
    'STORAGE_ACCESS_KEY',
    'STORAGE_SECRET_KEY',
    'PUBLIC_URL',
    'DOWNLOAD_KEYS_FILE',
    'SEALING_KEY_FILE',
    'LINK_KEY_FILE',
    'ALLOWED_CIDRS',
    'ALLOWED_PORTS',
    'TRUSTED_PROXIES',
  ]
  try {
    loadConfig(wrong)
    t.fail('it was refused')
  } catch (error) {
    for (const name of names) t.match((error as Error).message, `TINTYPE_${name}`)
  }
})
