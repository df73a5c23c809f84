import type { Operation } from '../../http/route.ts'
import { DeviceList, OpenApiDocument, ServiceStatus } from '../schemas/service.ts'
import { deviceList, serviceStatus } from './examples.ts'

/** Operations of the service. */
export const serviceOperations: readonly Operation[] = [
  {
    id: 'getStatus',
    method: 'get',
    path: '/status',
    tag: 'Service',
    summary: 'Read the service status',
    description: 'Public, and readable from any web page. The HTTP status is always 200, and the body contains the health of the service.',
    responses: { 200: { description: 'The status.', schema: ServiceStatus, example: serviceStatus, headers: ['Cache-Control'] } },
  },
  {
    id: 'listDevices',
    method: 'get',
    path: '/devices',
    tag: 'Screenshots',
    scope: 'screenshots:read',
    summary: 'List the devices',
    description:
      'Lists the allowed values of `options.device`: the devices of Playwright. The list changes only with the version of the service.',
    responses: { 200: { description: 'All devices.', schema: DeviceList, example: deviceList, headers: ['Cache-Control'] } },
  },
  {
    id: 'getOpenApiDocument',
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'Read this document',
    responses: {
      200: { description: 'This document.', schema: OpenApiDocument, headers: ['ETag', 'Cache-Control'] },
      304: { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] },
    },
  },
]
