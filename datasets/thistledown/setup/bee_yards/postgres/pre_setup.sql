SET client_encoding = 'UTF8';
