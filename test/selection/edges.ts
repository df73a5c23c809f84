/** What tests need although no import or path in their code says so. See "Run what a change can reach" in CONTRIBUTING.md. */
import type { Rules } from './select.ts'

const below = (...folders: readonly string[]): string[] => folders.map((folder) => `${folder}/**/*`)
const integration = (...names: readonly string[]): string[] => names.map((name) => `test/integration/${name}.test.ts`)
const endToEnd = (...names: readonly string[]): string[] => names.map((name) => `test/e2e/${name}.test.ts`)

const DOCUMENTS = ['*.md', '*/README.md', '*/*/README.md', ...below('docs')]
/** Each option once, and where options come from. */
const OPTIONS = integration('options/*', 'options/page/identity', 'samples/*', 'operator/options')
/** What only a cluster shows of images, permissions and pods: each part runs and reaches what it needs. */
const CLUSTER = endToEnd('helm-test', 'cluster-roles', 'runner-rights', 'store-writes', 'sandbox', 'take', 'videos', 'dispatch')

export const rules: Rules = {
  everything: [
    'package.json',
    'package-lock.json',
    '{crds,operator,api-gateway,capture-runner,test/clients}/package.json',
    'api-gateway/{client,cli,console}/package.json',
    'tsconfig.json',
    '.taprc',
    '.ci/run',
    'test/run.ts',
    'test/prepare.ts',
    'test/cluster/prepare.sh',
    'test/cluster/go/**/*',
  ],
  nothing: [
    '.editorconfig',
    '.gitignore',
    '.devcontainer/*',
    'LICENSE',
    'biome.json',
    'docs/**/*',
    '**/.dockerignore',
    // Programs that a person starts.
    ...below('test/scenarios', 'test/gallery'),
    'test/{verify,coverage,selection/**/*}.ts',
  ],
  edges: [
    // The prose check, and the checks of links, examples and names.
    { files: ['test/unit/docs/*.test.ts', 'test/integration/docs/*.test.ts'], need: [...DOCUMENTS, 'test/*/*.md', 'docs/.vale/**/*'] },
    { files: ['test/unit/docs/dependencies.test.ts'], need: ['**/*.{ts,tsx}'] },
    { files: ['test/unit/{conformance,complaints,coined-names}.test.ts'], need: ['test/{unit,integration,e2e}/**/*.ts', 'docs/**/*'] },
    { files: ['test/unit/release/*.test.ts'], need: ['charts/**/*', '*/Dockerfile', 'test/release/*'] },
    { files: ['test/unit/chart/*.test.ts'], need: ['charts/**/*'] },
    { files: ['test/unit/chart/roles.test.ts'], need: ['{operator,api-gateway,capture-runner}/src/**/*'] },
    // They read all sources.
    {
      files: ['test/unit/{selection/select,support/sources/tool-users}.test.ts'],
      need: ['{crds,operator,api-gateway,capture-runner,test}/**/*.{ts,tsx}'],
    },
    // Programs that are started by a name that code puts together.
    {
      files: ['test/integration/{samples,clients}/*.test.ts'],
      need: ['test/samples/*', 'docs/{webhooks,links,clients}.md', 'api-gateway/c*/src/**/*'],
    },
    { files: ['test/integration/tilt/*.test.ts'], need: ['Tiltfile', 'charts/**/*', '*/Dockerfile'] },
    { files: ['test/integration/release/*.test.ts'], need: ['.github/workflows/*'] },
    // `npm test` starts the servers of lanes.
    { files: ['test/support/lanes/lane.ts'], need: ['test/support/lanes/lane-servers.ts'] },
    // The operator starts runners, and the gateway serves the console.
    { files: ['test/integration/{operator,schedules,console}/*.test.ts'], need: ['capture-runner/src/main.ts'] },
    { files: ['test/integration/console/*.test.ts', 'test/unit/console/*.test.ts'], need: below('api-gateway/console') },
    { files: ['api-gateway/src/main.ts'], need: ['api-gateway/console/src/{index.html,style.css,main.tsx}'] },
    // Each program has the files beside its sources in its image. The runner reads its fonts and lists, and starts its jail.
    { files: ['capture-runner/src/main.ts'], need: ['capture-runner/{fonts,lists,jail}/**/*'] },
    // The runner has the bundle of the page functions among its sources.
    { files: ['capture-runner/src/page/call.ts'], need: below('capture-runner/page') },
    // End-to-end tests use the images, the chart, the cluster and its sites.
    {
      files: ['test/e2e/**/*.test.ts'],
      need: [
        '{operator,api-gateway,capture-runner}/{Dockerfile,src/main.ts}',
        ...below('api-gateway/console', 'charts', 'test/cluster', 'test/sites'),
        'api-gateway/generate/*',
      ],
    },
    // Definitions of kinds are in the API servers of tests, which also read the chart's admission policies.
    { files: ['test/support/processes/create-kinds.ts'], need: ['charts/tintype/crds/*'] },
  ],
  // An area names end-to-end tests only where integration tests cannot show a fault: in pods, permissions, images and the network of a cluster.
  basics: integration('operator/{main,captures}', 'api-gateway/screenshots', 'capture-runner/service'),
  areas: [
    { sources: DOCUMENTS, tests: integration('docs/*', 'samples/*') },
    {
      sources: ['charts/tintype/crds/*'],
      tests: integration('crds/*', 'admission/*', 'setup/apply-crds', 'options/invalid'),
    },
    { sources: below('charts/tintype/files'), tests: integration('chart/*', 'setup/*', 'storage/settings') },
    {
      sources: ['{operator,api-gateway,capture-runner}/{Dockerfile,src/app.ts,src/**/{main,config}.ts}'],
      tests: [
        ...integration('operator/*', 'api-gateway/*', 'capture-runner/*', 'chart/monitoring', 'delivery/delivery', 'retention/archive'),
        ...CLUSTER,
      ],
    },
    {
      sources: below('charts'),
      tests: [...integration('chart/*', 'admission/*', 'setup/*', 'tilt/*', 'operator/{pool,main}'), ...CLUSTER],
    },
    {
      sources: ['**/*comparison*', ...below('capture-runner/src/comparison')],
      tests: integration('options/*', 'options/comparison/*', 'options/output/delivery'),
    },
    {
      sources: ['**/*schedule*', ...below('operator/src/controllers/schedule', 'api-gateway/src/resources/schedules', 'crds/src/schedule')],
      tests: integration('schedules/*', '*/*schedules*', 'operator/main', 'admission/trusted-spec'),
    },
    {
      sources: [
        ...below('operator/src/controllers/delivery', 'operator/src/controllers/webhook', 'crds/src/webhooks'),
        ...below('api-gateway/src/resources/webhooks', 'api-gateway/src/resources/deliveries'),
      ],
      tests: integration('delivery/*', 'api-gateway/{deliveries,webhook*,untrusted-events}', 'samples/samples'),
    },
    { sources: below('operator/src/controllers/retention', 'api-gateway/src/archive'), tests: integration('retention/*') },
    {
      sources: below(
        'operator/src/controllers/account',
        'operator/src/controllers/api-key',
        'api-gateway/src/resources/keys',
        'operator/src/secrets',
      ),
      tests: integration('account/*', 'api-gateway/keys', 'quota/exactness'),
    },
    {
      sources: below('operator/src/controllers/quota', 'api-gateway/src/quota', 'api-gateway/src/resources/usage', 'crds/src/usage'),
      tests: integration('quota/*', 'operator/captures', 'api-gateway/screenshots'),
    },
    {
      sources: below('operator/src/runner', 'operator/src/controllers/runner-pool'),
      tests: [...integration('operator/*'), ...endToEnd('dispatch', 'runner-rights', 'sandbox')],
    },
    {
      sources: below(
        'operator/src/scheduling',
        'operator/src/controllers/screenshot',
        'operator/src/controllers/pending',
        'crds/src/dispatch',
      ),
      tests: [...integration('operator/*', 'quota/exactness'), ...endToEnd('dispatch')],
    },
    {
      sources: below('operator/src/controllers/guard', 'operator/src/runtime', 'api-gateway/src/metrics'),
      tests: integration('operator/*', 'chart/monitoring'),
    },
    {
      sources: below('operator/src/setup', 'operator/src/stores', 'crds/storage', 'operator/src/storage', 'charts/images'),
      tests: [...integration('setup/*', 'storage/*', 'options/output/storage'), ...endToEnd('store-writes')],
    },
    {
      sources: below('crds/client', 'operator/src/kube', 'operator/src/controller-runtime'),
      tests: integration('client/*', 'operator/leaders', 'admission/*', 'retention/failures', 'api-gateway/outages'),
    },
    {
      sources: below('api-gateway/src/resources/take', 'api-gateway/src/cache'),
      tests: integration('links/*', 'samples/links'),
    },
    {
      sources: below(...['common', 'creation', 'http', 'options', 'plugins', 'store'].map((name) => `api-gateway/src/${name}`)),
      tests: integration('api-gateway/*', 'fuzz/*', 'links/*', 'crds/agreement', 'options/invalid', 'quota/exactness', 'retention/archive'),
    },
    {
      sources: below('api-gateway/src/openapi', 'api-gateway/src/resources/openapi'),
      tests: integration('reference/*', 'clients/*', 'fuzz/*'),
    },
    {
      sources: ['api-gateway/src/resources/*/**/*'],
      tests: integration('api-gateway/*', 'fuzz/*', 'links/{proxy,failures}', 'retention/archive', 'account/keys', 'clients/*'),
    },
    {
      sources: below('api-gateway/src/console', 'api-gateway/console'),
      tests: integration('console/*'),
    },
    { sources: below('api-gateway/client'), tests: integration('clients/*', 'samples/*', 'console/*') },
    { sources: below('api-gateway/cli'), tests: integration('clients/command-line') },
    {
      sources: ['capture-runner/src/**/*video*', ...below('capture-runner/src/video')],
      tests: integration('**/*video*', 'capture-runner/service'),
    },
    {
      sources: below('capture-runner/src/egress', 'capture-runner/jail', 'capture-runner/src/jail', 'crds/src/addresses'),
      tests: [
        ...integration('egress/*', 'delivery/post', 'options/page/network', 'capture-runner/sign-in', 'storage/unsigned-writes'),
        ...endToEnd('attacks', 'sandbox'),
      ],
    },
    {
      sources: below('capture-runner/src/blocking', 'capture-runner/lists'),
      tests: integration('options/page/blocking', 'complaints/in-the-way', 'capture-runner/{navigation,sign-in}'),
    },
    { sources: below('capture-runner/src/http-cache'), tests: integration('options/output/{cache,http-cache}', 'capture-runner/*') },
    {
      sources: below('capture-runner/fonts'),
      tests: [...integration('complaints/fonts', 'options/every-option'), ...endToEnd('runner-image')],
    },
    {
      sources: below(
        ...['navigation', 'waiting', 'preparing', 'injection'].map((name) => `capture-runner/src/steps/${name}`),
        'crds/src/options/page',
      ),
      tests: [...OPTIONS, ...integration('options/page/*', 'complaints/*', 'capture-runner/{failures,navigation,sign-in}')],
    },
    {
      sources: below(
        ...['steps/full-page', 'steps/output', 'picture'].map((name) => `capture-runner/src/${name}`),
        'crds/src/options/output',
      ),
      tests: [...OPTIONS, ...integration('options/output/*', 'capture-runner/*')],
    },
    {
      sources: below('capture-runner/src/steps', 'capture-runner/src/plan'),
      tests: [...OPTIONS, ...integration('options/{page,output}/*', 'complaints/*')],
    },
    {
      sources: below('capture-runner/src/requests'),
      tests: integration('options/page/*', 'options/output/extra-files', 'egress/browser', 'capture-runner/*'),
    },
    {
      sources: below(...['browser', 'capture', 'server', 'runtime'].map((name) => `capture-runner/src/${name}`)),
      tests: integration(
        'options/*',
        'options/page/{identity,stability}',
        'capture-runner/*',
        'complaints/*',
        'egress/browser',
        'operator/captures',
      ),
    },
    {
      sources: below('crds/src/options'),
      tests: [...OPTIONS, ...integration('api-gateway/*', 'crds/*', 'fuzz/*', 'links/proxy', 'console/pages')],
    },
    { sources: below('crds/src/kinds'), tests: integration('crds/*', 'admission/*', 'operator/*', 'api-gateway/*', 'retention/archive') },
    {
      sources: below('crds/src/text', 'crds/src/identifiers', 'crds/src/crypto'),
      tests: integration('api-gateway/*', 'links/*', 'account/*', 'delivery/signatures'),
    },
    { sources: below('crds/src/records'), tests: integration('retention/*', 'api-gateway/*', 'operator/{captures,kubectl,main}') },
    { sources: below('test/sites'), tests: endToEnd('**/*') },
  ],
}
