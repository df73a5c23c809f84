/** The service that serves test/sites in the cluster; the local RunnerPool may reach it, the host cannot. */
export const SITES = 'http://pages.sites.svc.cluster.local'

/** Address of a page of test/sites. */
export const page = (path: string): string => SITES + path
