import { DeviceList, OpenApiDocument, ServiceStatus } from '../schemas/service.ts'
import { deviceList, serviceStatus } from './examples.ts'
import type { Operation } from './operation.ts'

/** The operations. */
export const serviceOperations: readonly Operation[] = [
  {
    id: 'getStatus',
    method: 'get',
    path: '/status',
    tag: 'Service',
    summary: 'Read the service status',
    description: 'Public, and readable from any web page. The status is always 200. The body contains the health.',
    responses: { 200: { description: 'How it is.', schema: ServiceStatus, example: serviceStatus, headers: ['Cache-Control'] } },
  },
  {
    id: 'listDevices',
    method: 'get',
    path: '/devices',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'List the devices',
    description: 'What `options.device` may be: Playwright’s list. It changes with the service’s version only.',
    responses: { 200: { description: 'All of them.', schema: DeviceList, example: deviceList, headers: ['Cache-Control'] } },
  },
  {
    id: 'getOpenApiDocument',
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'Read this document',
    responses: {
      200: { description: 'This document.', schema: OpenApiDocument, headers: ['ETag', 'Cache-Control'] },
      304: { description: 'The client has this version already.', headers: ['ETag', 'Cache-Control'] },
    },
  },
]
